package remote

import (
	"errors"
	"log/slog"
	"testing"

	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/remote/internal/servertest"
)

// A cluster of which a server is not heard of is not online, whichever it is.
func TestOnlineIsAllServers(t *testing.T) {
	tier := newTier(Options{Addrs: []string{"a:1"}, Namespace: "test", Log: slog.New(slog.DiscardHandler)})
	tier.cluster = newCluster(tier)
	online := func() bool {
		var s shared.Stats
		tier.Stats(&s)
		return s.Online
	}
	if online() {
		t.Error("online without a server")
	}
	wires := []*wire{newWire(tier, "a:1"), newWire(tier, "b:1")}
	for slot, w := range wires {
		tier.cluster.slots[slot].Store(&tenure{w: w})
	}
	heard := func(w *wire) {
		c := &conn{w: w}
		c.heard.Store(bootNanos())
		w.state.Store(&wireState{conn: c})
	}
	heard(wires[0])
	if online() {
		t.Error("online without the second server")
	}
	wires[0].state.Store(&wireState{err: errLost})
	heard(wires[1])
	if online() {
		t.Error("online without the first server")
	}
	heard(wires[0])
	if !online() {
		t.Error("not online with both servers")
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
