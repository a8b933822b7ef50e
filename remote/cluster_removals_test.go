package remote

import (
	"errors"
	"fmt"
	"testing"

	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/remote/internal/servertest"
)

// A removal that was kept for a server is sent to the one that has its slot by then.
func TestKeptRemovalFollowsItsSlot(t *testing.T) {
	c := servertest.StartCluster(t, servertest.ClusterOptions{})
	var n network
	o := Options{DialTimeout: servertest.Patience}
	b := open(t, o, c.Addrs()...)
	o.Dial = n.dial
	a := open(t, o, c.Addrs()...)
	const keys = 40 // of all servers, and of the slot that moves
	names := make([][]byte, keys)
	for i := range names {
		names[i] = fmt.Appendf(nil, "key %d", i)
		b.set(t, string(names[i]), "old")
		a.get(t, string(names[i]))
	}
	n.set(true)
	a.RemoveMulti(t.Context(), names[:keys/2], func(_ int, err error) {
		if !errors.Is(err, shared.ErrUnavailable) {
			t.Errorf("%v: want unavailable", err)
		}
	})
	for _, key := range names[keys/2:] {
		if err := a.Remove(t.Context(), key, shared.Anything); !errors.Is(err, shared.ErrUnavailable) {
			t.Errorf("%v: want unavailable", err)
		}
	}
	slot := c.Slot(a.entryName(names[0]))
	from := c.Owner(slot, c.Nodes[0])
	to := c.Nodes[0]
	if to == from {
		to = c.Nodes[1]
	}
	c.Migrate(slot, from, to)
	b.store.mu.Lock()
	clear(b.store.keys)
	b.store.mu.Unlock()
	n.set(false)
	b.store.wait(t, "of every removal", func() bool { return len(b.store.keys) == keys })
	for _, key := range names {
		a.missing(t, string(key)) // or its removal is sent before
		b.missing(t, string(key))
	}
	if kept := a.stats().KeptRemovals; kept != 0 {
		t.Errorf("%d are kept", kept)
	}
}

// A removal from before any server was reached is kept, and counted, and sent to the first.
func TestKeptBeforeAnyServer(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	b := open(t, Options{}, s.Addr)
	b.set(t, "k", "old")
	var n network
	n.set(true)
	a := open(t, Options{Dial: n.dial}, s.Addr)
	if err := a.Remove(t.Context(), []byte("k"), shared.Anything); !errors.Is(err, shared.ErrUnavailable) {
		t.Errorf("%v: want unavailable", err)
	}
	if kept := a.stats().KeptRemovals; kept != 1 {
		t.Errorf("%d are kept: want 1", kept)
	}
	b.get(t, "k")
	n.set(false)
	b.store.wait(t, "of the removal", func() bool { return len(b.store.keys) > 0 })
	b.missing(t, "k")
}
