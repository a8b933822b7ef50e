package remote

import (
	"errors"
	"testing"

	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/remote/internal/servertest"
)

// A cluster of which a server is not heard of is not online, whichever it is.
func TestOnlineIsAllServers(t *testing.T) {
	if (opened{sharedTier: newTier(Options{Addrs: []string{"a:1"}, Namespace: "test"})}).stats().Online {
		t.Error("online without a server")
	}
	c := servertest.StartCluster(t, servertest.ClusterOptions{NoReplicas: true})
	o := open(t, Options{Staleness: MinStaleness}, c.Nodes[0].Addr)
	online := func() bool { return o.stats().Online }
	for _, n := range c.Nodes {
		until(t, "that it is online with all servers", online)
		n.Freeze()
		until(t, "that it is not without one", func() bool { return !online() })
		n.Thaw()
	}
}

// Nothing is cleared where nobody can be asked, and that is said.
func TestClearWithoutServers(t *testing.T) {
	o := open(t, Options{}, "127.0.0.1:1")
	if err := o.Clear(t.Context()); !errors.Is(err, shared.ErrUnavailable) {
		t.Errorf("%v: want unavailable", err)
	}
	// of a cluster that one server tells of, of which others are out of reach
	c := servertest.StartCluster(t, servertest.ClusterOptions{NoReplicas: true})
	o = open(t, Options{Dial: except(c.Nodes[1])}, c.Nodes[0].Addr)
	if err := o.Clear(t.Context()); !errors.Is(err, shared.ErrUnavailable) {
		t.Errorf("%v with a server out of reach: want unavailable", err)
	}
}
