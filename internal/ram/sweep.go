package ram

import (
	"math"
	"math/bits"
)

// Sweep takes records out that are past their grace and gives their room back. It looks
// only at segments where enough are: all, or perhaps a 16th; else where records are
// overdue by a second and by 1/16 of the time between the first that goes and the
// last. It locks one shard at a time, for one segment at a time.
func (t *Tier) Sweep() {
	for id := uint32(1); id != 0; {
		var ev Evicted
		id = t.sweepFrom(id, &ev)
		ev.Notify()
	}
}

// maxSweep is how many segments are looked at in a step of a sweep.
const maxSweep = 1024

// sweepFrom does a step of a sweep, and returns the segment where the next one
// begins, 0 after the last.
func (t *Tier) sweepFrom(id uint32, ev *Evicted) (next uint32) {
	t.janitor.sweeping.Lock()
	defer t.janitor.sweeping.Unlock()
	now, from, end := t.clock.now(), id, t.touched()
	for ; id < end && !t.closed.Load(); id++ {
		if ev.full() || id-from == maxSweep {
			return id
		}
		if owner := t.segs[id].owner.Load(); owner != 0 {
			t.shards[owner-1].sweep(id, now, ev)
		}
	}
	return 0
}

// touched is one more than the highest segment that was ever used.
func (t *Tier) touched() uint32 {
	t.pool.mu.Lock()
	defer t.pool.mu.Unlock()
	return t.pool.fresh
}

// sweep takes the expired records of one segment out, if it is due.
func (s *shard) sweep(id uint32, now int64, ev *Evicted) {
	s.mu.Lock()
	defer s.unlock(ev)
	seg := &s.tier.segs[id]
	if s.closed || seg.owner.Load() != s.number || !seg.sweepDue(now) {
		return
	}
	earliest, latest := int64(0), int64(0)
	var stay remaining
	s.eachLive(id, func(e *entry) {
		end := s.tier.graceDeadline(s.tier.deadline(&e.rec))
		switch {
		case end == 0:
			return
		case s.tier.clock.expired(end):
			s.expire(e)
			return
		case earliest == 0 || end < earliest:
			earliest = end
		}
		latest = max(latest, end)
		stay.add(end-now, e.rec.size)
	})
	seg.earliest, seg.latest = earliest, latest
	seg.sweepShift = sweepShift(earliest, latest, now+stay.before(uint64(s.tier.segSize()/16)))
	s.releaseOrGrade(id)
}

// remaining are bytes of records by the time that they have left: each place is for
// twice the time of the one before.
type remaining [64]uint64

func (r *remaining) add(millis int64, size uint64) { r[bits.Len64(uint64(max(millis, 0)))%64] += size }

// before is a time before which fewer than so many bytes go: the last such power of
// two.
func (r *remaining) before(size uint64) (millis int64) {
	for i, n := range r {
		if n >= size {
			return 1 << max(i-1, 0)
		}
		size -= n
	}
	return math.MaxInt64 / 2
}
