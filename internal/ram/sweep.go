package ram

import (
	"time"

	"github.com/firncache/firn/internal/evicted"
	"github.com/firncache/firn/internal/ram/segments"
)

// Sweep takes records out that are past their grace and gives their room back. It looks
// only at segments where enough are: all, or perhaps a 16th; else where records are
// overdue by a second and by 1/16 of the time between the first that goes and the
// last. It locks one shard at a time, for one step at a time.
func (t *Tier) Sweep() {
	for id := uint32(1); id != 0; {
		var ev evicted.List
		id = t.sweepFrom(id, &ev)
		ev.Notify()
	}
}

// RaiseGrace has records kept for so many milliseconds after their deadlines, if that is longer.
func (t *Tier) RaiseGrace(millis int64) {
	old := t.grace.Load()
	for ; old < millis && !t.grace.CompareAndSwap(old, millis); old = t.grace.Load() {
	}
	for id := uint32(1); old < millis && id < t.pool.Touched(); id++ {
		if owner := t.segs[id].Owner.Load(); owner != 0 {
			t.shards[owner-1].raiseGrace(id, millis-old)
		}
	}
}

// raiseGrace has the records of a segment pass their grace later: the last one, for a negative
// entry does not.
func (s *shard) raiseGrace(id uint32, by int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if seg := &s.tier.segs[id]; seg.Owner.Load() == s.number && seg.Earliest != 0 {
		seg.Latest += by
	}
	for w := s.walks; w != nil; w = w.next {
		if w.id == id && w.earliest != 0 {
			w.latest += by
		}
	}
}

// maxSweep is how many segments are looked at in a step of a sweep.
const maxSweep = 1024

// sweepFrom does a step of a sweep, and returns the segment where the next one
// begins, 0 after the last.
func (t *Tier) sweepFrom(id uint32, ev *evicted.List) (next uint32) {
	t.janitor.sweeping.Lock()
	defer t.janitor.sweeping.Unlock()
	now, from, end := t.clock.now(), id, t.pool.Touched()
	w := new(walk)
	for ; id < end && !t.closed.Load(); id++ {
		if ev.Full() || id-from == maxSweep {
			return id
		}
		if owner := t.segs[id].Owner.Load(); owner != 0 {
			t.shards[owner-1].sweep(w, id, now, ev)
		}
	}
	return 0
}

// sweep takes the expired records of one segment out, if it is due.
func (s *shard) sweep(w *walk, id uint32, now int64, ev *evicted.List) {
	s.mu.Lock()
	defer s.unlock(ev)
	seg := &s.tier.segs[id]
	if s.closed || seg.Owner.Load() != s.number || s.dead.Head != 0 || !seg.SweepDue(now) {
		return
	}
	var stay segments.Remaining
	seg.SweepShift = segments.MinSweepShift // more, if records are appended meanwhile
	s.beginWalk(w, id)
	defer s.endWalk(w)
	for s.sweepStep(w, now, &stay) {
		s.unlock(ev)
		s.tier.pause()
		s.mu.Lock()
	}
	if w.id == 0 || s.closed {
		return
	}
	seg.Earliest, seg.Latest = w.earliest, w.latest
	by := now + stay.Before(uint64(s.tier.segSize()/16))
	seg.SweepShift = max(seg.SweepShift, segments.SweepShift(w.earliest, w.latest, by))
}

// sweepStep does a step of a segment's sweep, and counts the records that stay. It reports
// whether there may be more.
func (s *shard) sweepStep(w *walk, now int64, stay *segments.Remaining) (more bool) {
	return w.id != 0 && !s.closed && s.walkStep(w, func(e *entry) {
		switch end := s.tier.graceDeadline(s.tier.deadline(&e.rec)); {
		case end == 0:
		case s.tier.clock.expired(end):
			s.expire(e.hash, e.bucket, e.slot, &e.rec)
		default:
			w.note(end)
			stay.Add(end-now, e.rec.size)
		}
	})
}

// sweepEvery is the time between two sweeps.
const sweepEvery = time.Second

// expectExpiry is called before a record is stored that has a deadline.
func (t *Tier) expectExpiry() { t.janitor.once.Do(t.startJanitor) }

func (t *Tier) startJanitor() {
	t.janitor.begun = true
	t.clock.join()
	t.passed.join()
	go t.runJanitor()
}

func (t *Tier) runJanitor() {
	ticker := time.NewTicker(sweepEvery)
	defer ticker.Stop()
	for {
		select {
		case <-t.janitor.quit:
			return
		case <-ticker.C:
			t.Sweep()
		}
	}
}

// stop ends the tier's goroutines. When it returns, they have ended or are about
// to: one may still be reporting expired records, for Close may be called from there.
func (t *Tier) stop() {
	close(t.janitor.quit)
	t.janitor.once.Do(func() {}) // it does not begin any more
	if t.janitor.begun {
		t.clock.leave()
		t.passed.leave()
	}
	t.janitor.sweeping.Lock() // once a sweep or prefault has ended, none begins: the tier is closed
	defer t.janitor.sweeping.Unlock()
}
