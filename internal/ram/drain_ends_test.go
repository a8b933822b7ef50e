package ram

import (
	"fmt"
	"testing"
	"time"

	"github.com/firncache/firn/internal/evicted"
	"github.com/firncache/firn/internal/ram/segments"
)

// Close ends a drain, and the write that needs it.
func TestCloseBetweenSteps(t *testing.T) {
	t.Parallel()
	d := newDrained(t, 64<<10, 0)
	closed := false
	d.between = func() {
		if closed {
			t.Error("the drain goes on after Close")
		}
		closed = true
		d.Close()
	}
	ends(t, "Set", func() {
		for i := range 10_000 {
			err := d.setKey(fmt.Append(nil, i), nil, 0)
			if closed {
				if err != ErrClosed {
					t.Errorf("Set: %v, want %v", err, ErrClosed)
				}
				return
			}
		}
		t.Error("no drain takes two steps")
	})
}

// patient is a lower tier that is ready again when somebody has waited.
type patient struct {
	*lower
	waits int
}

func (p *patient) WaitForRoom(waited time.Duration) (time.Duration, bool) {
	if waited != noWait {
		p.waits++
		p.busy.Store(false)
	}
	return waited, !p.busy.Load()
}

// A write that makes room leaves a drain off when the lower tier becomes busy, and
// goes on when it is ready: nothing is lost for it. A promotion gives up.
func TestLowerBusyBetweenSteps(t *testing.T) {
	t.Parallel()
	for _, promoted := range []bool{false, true} {
		d := newDrained(t, 64<<10, 0)
		low := &patient{lower: d.low}
		d.lower = low
		d.low.admit = func() bool { return !d.low.busy.Load() }
		busied := false
		d.between = func() {
			busied = true
			d.low.busy.Store(true)
		}
		ends(t, "a write", func() {
			for i := 0; !busied && i < 10_000; i++ {
				if !promoted {
					d.add()
					continue
				}
				key := fmt.Appendf(nil, "%06d", i)
				r, ok := d.low.get(d.Hash(key), key)
				if ok && d.Promote(d.Hash(key), key, r.value, r.deadline, r.token) && busied {
					t.Error("a record was promoted though the lower tier is busy")
				}
			}
		})
		d.between = nil
		if n := d.Stats().Evicted; !busied || n > 0 || promoted != (low.waits == 0) {
			t.Errorf("promoted %v: busy %v, %d records were dropped, %d waited", promoted, busied, n, low.waits)
		}
		d.low.busy.Store(false)
		d.add()
		d.check()
	}
}

// Large records, which lie in several segments, are drained as a whole.
func TestDrainStraddling(t *testing.T) {
	oneGoroutine(t)
	t.Parallel()
	d := newDrained(t, 64<<10, 0)
	d.maxWalk = 1
	bad := 0
	d.between = func() {
		s := &d.shards[0]
		s.mu.Lock()
		defer s.mu.Unlock()
		if _, err := s.check(); err != nil && bad == 0 { // the write under way holds segments of the pool
			bad++
			t.Error(err)
		}
	}
	for i := range 100 {
		d.n++
		d.set(fmt.Sprintf("%06d", d.n), string(make([]byte, []int{100, 900, 1500, 5000}[i%4])), 0)
		if i%5 == 0 {
			d.set(fmt.Sprintf("%06d", d.n-2), "short", 0)
		}
		if i%7 == 0 {
			d.delete(fmt.Sprintf("%06d", d.n-1))
		}
	}
	d.between = nil
	d.check()
}

// A panic of OnEvict leaves a drain as it is, and the next write goes on with it.
func TestEvictedPanicsBetweenDrains(t *testing.T) {
	t.Parallel()
	d := newDrained(t, 64<<10, 0)
	d.low.admit = func() bool { return false }
	d.onEvict = func([]byte, []byte, evicted.Cause) { panic("evicted") }
	d.NotifyOf(evicted.Gone)
	for range 5 {
		func() {
			defer func() { _ = recover() }()
			for range 1000 {
				d.add()
			}
		}()
		if err := d.Check(); err != nil {
			t.Fatal(err)
		}
	}
}

// Check notices what is wrong with a segment that is being drained.
func TestCheckNoticesDrain(t *testing.T) {
	oneGoroutine(t)
	t.Parallel()
	for name, spoil := range map[string]func(s *shard, seg *segments.Segment){
		"forgotten":  func(s *shard, _ *segments.Segment) { s.drain.id = 0 },
		"live bytes": func(_ *shard, seg *segments.Segment) { seg.Live++ },
		"dead":       func(_ *shard, seg *segments.Segment) { seg.Live = 0 },
		"beyond":     func(s *shard, seg *segments.Segment) { s.drain.at = seg.End + 8 },
		"skipped":    func(s *shard, seg *segments.Segment) { s.drain.at = seg.End },
		"queued": func(s *shard, seg *segments.Segment) {
			s.queues[seg.Lane].Push(s.tier.segs, s.drain.id)
			seg.Queue = seg.Lane
		},
		"cleanable":     func(s *shard, _ *segments.Segment) { s.cleanable.Move(s.tier.segs, s.drain.id, 1) },
		"open":          func(s *shard, _ *segments.Segment) { s.lanes[0].Seg = s.drain.id },
		"another's":     func(_ *shard, seg *segments.Segment) { seg.Owner.Store(99) },
		"counted twice": func(s *shard, _ *segments.Segment) { s.held.Add(1) },
	} {
		t.Run(name, func(t *testing.T) {
			d := newDrained(t, 64<<10, 0)
			s := &d.shards[0]
			s.mu.Lock()
			s.reclaimStep()
			s.mu.Unlock()
			if err := d.Check(); s.drain.id == 0 || err != nil {
				t.Fatalf("drain of segment %d: %v", s.drain.id, err)
			}
			spoil(s, &d.segs[s.drain.id])
			if d.Check() == nil {
				t.Error("not noticed")
			}
		})
	}
}
