package ram

import (
	"fmt"
	"testing"

	"github.com/firncache/firn/internal/evicted"
)

// newFilled is a tier that is full of records without values, of which OnEvict is told if
// it is set.
func newFilled(t *testing.T, bytes int64, onEvict func(key, value []byte, cause evicted.Cause)) *Tier {
	tier, err := New(Config{Bytes: bytes, Seed: 1, Now: func() int64 { return 1000 }, OnEvict: onEvict})
	if err != nil {
		t.Fatal(err)
	}
	tier.janitor.once.Do(func() {})
	t.Cleanup(tier.Free)
	for i := 0; !tier.full.Load(); i++ {
		if err := tier.setKey(fmt.Appendf(nil, "%08d", i), nil, 0); err != nil {
			t.Fatal(err)
		}
	}
	return tier
}

func ignore([]byte, []byte, evicted.Cause) {}

// checkBudget sees that no more is in use than the budget allows, and that there is room.
func checkBudget(t *testing.T, tier *Tier) {
	t.Helper()
	if st := tier.Stats(); st.Used > st.Budget {
		t.Errorf("%d of %d bytes are in use", st.Used, st.Budget)
	}
	if err := tier.setKey([]byte("small"), nil, 0); err != nil {
		t.Errorf("Set of a small record: %v", err)
	}
}

// Clear tells readers that the index's memory may be used anew before any write can do so.
func TestClearGrowsTheEpoch(t *testing.T) {
	tier := newFilled(t, 64<<10, nil)
	s := &tier.shards[0]
	s.mu.Lock()
	defer s.mu.Unlock()
	epoch := s.epoch.Load()
	if s.clear(); !s.reused(epoch) {
		t.Error("a reader from before Clear may find itself in a bucket of after it")
	}
}

// SetBytes between two steps of Clear keeps to the budget that it sets.
func TestSetBytesDuringClear(t *testing.T) {
	oneGoroutine(t)
	for _, onEvict := range []func(key, value []byte, cause evicted.Cause){nil, ignore} {
		for _, size := range []int64{1 << 20, 8 << 20} {
			tier, resized := newFilled(t, size, onEvict), false
			tier.between = func() {
				held := int64(0)
				for i := range tier.shards {
					held += tier.shards[i].held.Load()
				}
				if resized || held > 1 {
					return
				}
				resized = true
				tier.between = nil
				if err := tier.SetBytes(tier.minBytes()); err != nil {
					t.Error(err)
				}
				checkBudget(t, tier)
			}
			tier.Clear()
			if !resized {
				t.Fatal("Clear has no step with so little to give back")
			}
			if p := &tier.pool; p.Limit > p.Target {
				t.Errorf("%d segments may be in use, more than the %d of the budget", p.Limit, p.Target)
			}
			checkBudget(t, tier)
		}
	}
}

// A Clear that ends with a panic of OnEvict gives the index's memory back all the same.
func TestPanicInClear(t *testing.T) {
	left := -1
	tier := newFilled(t, 1<<20, func([]byte, []byte, evicted.Cause) {
		if left--; left == 0 {
			panic("OnEvict")
		}
	})
	left = int(tier.Stats().Entries)
	func() {
		defer func() { _ = recover() }()
		tier.Clear()
		t.Error("OnEvict did not panic")
	}()
	if st := tier.Stats(); st.Entries > 0 || st.IndexBytes > 16<<10 {
		t.Errorf("%d entries, and an index of %d bytes", st.Entries, st.IndexBytes)
	}
	if err := tier.SetBytes(tier.minBytes()); err != nil {
		t.Fatal(err)
	}
	checkBudget(t, tier)
}

// Clear makes the index of a shard small in steps, if something was set meanwhile.
func TestClearShrinksIndexInSteps(t *testing.T) {
	oneGoroutine(t)
	tier := newFilled(t, 8<<20, ignore)
	s := &tier.shards[0]
	last, most, set := uint32(s.table.Shape()), uint32(0), false
	tier.between = func() {
		buckets := uint32(s.table.Shape())
		most, last = max(most, last-min(buckets, last)), buckets
		if set || s.table.Len() > 10 {
			return
		}
		set = true
		for i := 0; s.table.Len() < 20; i++ {
			if err := tier.setKey(fmt.Appendf(nil, "new %d", i), nil, 0); err != nil {
				t.Error(err)
			}
		}
	}
	tier.Clear()
	if most == 0 || most > 2*stepRecords {
		t.Errorf("the index lost %d buckets in one step: want some, and at most %d", most, 2*stepRecords)
	}
}

func TestDemoteAllOfClosedTier(t *testing.T) {
	d := newDrained(t, 64<<10, 0)
	d.Close()
	ends(t, "DemoteAll", func() { d.DemoteAll(0, always, new(evicted.List)) })
}
