package ram

import (
	"fmt"
	"sync"
	"testing"
	"time"
)

// slow is a lower tier that is busy until so many writes wait for it at once.
type slow struct {
	*lower
	most     int
	mu       sync.Mutex
	waiting  int
	together chan struct{} // closed when they do
	leave    chan struct{} // closed when they may go on
}

func (s *slow) WaitForRoom(waited time.Duration) (time.Duration, bool) {
	if !s.busy.Load() || waited == noWait {
		return waited, !s.busy.Load()
	}
	s.mu.Lock()
	if s.waiting++; s.waiting == s.most {
		close(s.together)
	}
	s.mu.Unlock()
	<-s.leave
	return waited + time.Second, !s.busy.Load()
}

// Writes that need several segments wait for a slow lower tier side by side, and
// hold nothing meanwhile: neither the turn to gather segments nor any segment.
func TestLargeWritesWaitTogether(t *testing.T) {
	t.Parallel()
	for _, segments := range []int{2, 4} {
		t.Run(fmt.Sprint(segments), func(t *testing.T) {
			t.Parallel()
			const writes = 6
			now := int64(1000)
			low := &slow{lower: newLower(), most: writes, together: make(chan struct{}), leave: make(chan struct{})}
			tier := newOverLower(t, 1<<20, low, &now)
			fill(t, tier, 3000, 400)
			if tier.Stats().Demoted == 0 {
				t.Fatal("the tier is not full")
			}
			for i := 2000; tier.pool.Used > tier.pool.Limit-tier.pool.ReclaimOnly-segments+1; i++ { // some are free, too few for a write
				tier.deleteKey(fmt.Appendf(nil, "fill %d", i))
			}
			low.busy.Store(true)
			var all sync.WaitGroup
			for w := range writes {
				all.Go(func() {
					if err := tier.setKey(fmt.Appendf(nil, "large %d", w), make([]byte, segments*int(tier.segSize())-100), 0); err != nil {
						t.Error(err)
					}
				})
			}
			ends(t, "a Set", func() {
				select {
				case <-low.together:
				case <-time.After(30 * time.Second):
					t.Error("the writes wait for one another")
				}
				tier.pool.Lock()
				if tier.pool.Holders > 0 {
					t.Errorf("%d writes hold segments while they wait", tier.pool.Holders)
				}
				tier.pool.Unlock()
				if !tier.large.TryLock() {
					t.Error("the turn to gather segments is held")
				} else {
					tier.large.Unlock()
				}
				low.busy.Store(false)
				close(low.leave)
				all.Wait()
			})
			if err := tier.Check(); err != nil {
				t.Error(err)
			}
		})
	}
}
