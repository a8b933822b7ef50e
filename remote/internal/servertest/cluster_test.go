package servertest

import (
	"strings"
	"testing"
)

func TestCluster(t *testing.T) {
	Each(t, func(t *testing.T, b Binary) {
		t.Parallel()
		c := StartCluster(t, ClusterOptions{Options: Options{Binary: b}})
		slot := c.Slot("{a}k")
		from := c.Owner(slot, c.Nodes[0])
		to := c.Nodes[(c.index(from)+1)%primaries]
		from.Do("SET", "{a}k", "v")
		c.Migrate(slot, from, to)
		c.WaitOwner(slot, to)
		if v := to.Do("GET", "{a}k"); v.Text != "v" {
			t.Fatalf("GET at the slot's new owner: %+v", v)
		}
		if _, err := from.Try("GET", "{a}k"); err == nil || !strings.HasPrefix(err.Error(), "MOVED") {
			t.Fatalf("GET at the slot's old owner: %v, want MOVED", err)
		}
		replica := c.Pair(from)
		c.Failover(replica)
		c.WaitOwner(c.index(from)*Slots/primaries+1, replica)
		c.Takeover(c.Pair(to))
		c.WaitOwner(slot, c.Pair(to))
		c.WaitOK()
	})
}

func TestClusterNodeCutOff(t *testing.T) {
	t.Parallel()
	c := StartCluster(t, ClusterOptions{})
	p := c.Nodes[0]
	r := c.Pair(p)
	mark, lost := r.Mark(), p.Mark()
	c.Cut(p)
	c.WaitElected(r, mark)
	p.WaitLog(lost, "Cluster state changed: fail")
	if _, err := p.Try("GET", "k"); err == nil {
		t.Fatal("the node that was cut off answers for a key")
	}
	if v := p.Do("PING"); v.Text != "PONG" {
		t.Fatalf("PING at the node that was cut off: %+v", v)
	}
	c.WaitOwner(0, r)
	c.Heal(p)
	c.WaitOwner(0, r)
	c.WaitOK()
}
