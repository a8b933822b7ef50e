package ram

import "github.com/firncache/firn/internal/policy"

// Sweep takes records out that expired, a grace ago, and gives their room back. It looks only at
// segments where enough has expired: all of it, or records that are overdue by
// a second and by 1/16 of the time between the segment's first deadline and
// its last. It locks one shard at a time, for one segment at a time.
func (t *Tier) Sweep() {
	var left Left
	t.sweep(&left)
	left.Report()
}

func (t *Tier) sweep(left *Left) {
	t.janitor.sweeping.Lock()
	defer t.janitor.sweeping.Unlock()
	now := t.clock.now()
	for id := uint32(1); id < t.touched() && !t.closed.Load(); id++ {
		if owner := t.segs[id].owner.Load(); owner != 0 {
			t.shards[owner-1].sweep(id, now, left)
		}
	}
}

// touched is one more than the highest segment that was ever used.
func (t *Tier) touched() uint32 {
	t.pool.mu.Lock()
	defer t.pool.mu.Unlock()
	return t.pool.fresh
}

// sweep takes the expired records of one segment out, if it is due.
func (s *shard) sweep(id uint32, now int64, left *Left) {
	s.mu.Lock()
	defer s.unlock(left)
	seg := &s.tier.segs[id]
	if s.closed || seg.owner.Load() != s.number || !seg.sweepDue(now-s.tier.grace) {
		return
	}
	earliest, latest := int64(0), int64(0)
	s.eachLive(id, func(e *entry) {
		deadline := s.tier.deadline(&e.rec)
		switch {
		case deadline == 0:
		case s.tier.clock.over(deadline, s.tier.grace):
			s.expire(e)
		case earliest == 0:
			earliest, latest = deadline, deadline
		default:
			earliest, latest = min(earliest, deadline), max(latest, deadline)
		}
	})
	seg.earliest, seg.latest = earliest, latest
	if seg.live == 0 && seg.queue != policy.None {
		s.release(id)
	}
}

// sweepDue reports whether looking through the segment for records that were due
// by now is worth it.
func (seg *segment) sweepDue(now int64) bool {
	if seg.earliest == 0 || now < seg.earliest {
		return false
	}
	return now >= seg.latest || now-seg.earliest >= max(1000, (seg.latest-seg.earliest)/16)
}
