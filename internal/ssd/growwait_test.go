package ssd

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/firncache/firn/internal/vfs/vfstest"
)

// What is about to leave RAM waits until the index has memory for it, but not for
// long where RAM is slow to give that, and only once: RAM may be waiting for a user
// who writes to the cache.
func TestReadyWaitsForIndex(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, 1)
		w.most = 1
		tier, err := Open(testConfig(vfstest.NewMem(), w))
		if err != nil {
			t.Fatal(err)
		}
		w.tier, w.hasher = tier, tier.ids.Hasher
		slow := tier.cfg.Throttle / 2
		var held atomic.Pointer[chan struct{}]
		if err := tier.Start(func(int64) error {
			if h := held.Load(); h != nil {
				<-*h
			}
			time.Sleep(slow)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		n := 0
		fill := func() {
			for ; !tier.index.lowOnMemory(); n++ {
				key := w.key(n)
				tier.Demote(w.hasher.Hash(key), key, nil, 0, true, true)
			}
		}
		fill()
		if took, ok := tier.Ready(0); !ok || took == 0 {
			t.Errorf("with a RAM that gives memory: ready: %v after %v", ok, took)
		}
		gate := make(chan struct{})
		held.Store(&gate)
		time.Sleep(time.Minute) // what is under way ends
		fill()
		if took, ok := tier.Ready(0); ok || took != tier.cfg.Throttle {
			t.Errorf("with a RAM that does not: ready: %v after %v, want not, after %v", ok, took, tier.cfg.Throttle)
		}
		if took, ok := tier.Ready(0); ok || took != 0 {
			t.Errorf("for the second time: ready: %v after %v, want not, at once", ok, took)
		}
		close(gate)
		time.Sleep(time.Minute)
		if took, ok := tier.Ready(0); !ok || took != 0 {
			t.Errorf("once it has: ready: %v after %v", ok, took)
		}
		w.close(t)
	})
}
