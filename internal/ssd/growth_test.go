package ssd

import (
	"sync/atomic"
	"testing"

	"github.com/firncache/firn/internal/record"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// What leaves RAM because the index grows is reported to the user with no lock
// held, and he may close the cache.
func TestCloseWhileTheIndexGrows(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.most = 1
	tier, err := Open(testConfig(vfstest.NewMem(), w))
	if err != nil {
		t.Fatal(err)
	}
	w.tier, w.hasher = tier, record.NewHasher(tier.Seed())
	var started atomic.Bool
	ended := make(chan error)
	err = tier.Start(func(int64) error {
		if !started.Load() {
			return nil
		}
		if !tier.memory.mu.TryLock() {
			t.Error("RAM is charged while the tier is locked")
		} else {
			tier.memory.mu.Unlock()
		}
		if tier.state.Load() != closed {
			ended <- tier.Close()
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	started.Store(true)
	inTime(t, "growing", func() {
		for i := 0; ; i++ {
			select {
			case err := <-ended:
				if err != nil {
					t.Errorf("Close: %v", err)
				}
				return
			default:
				w.set(w.key(i), 0)
				w.demote(w.key(i))
			}
		}
	})
}
