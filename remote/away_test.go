package remote

import (
	"log/slog"
	"testing"

	"github.com/firncache/firn/internal/shared"
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
