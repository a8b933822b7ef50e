package ram

import "github.com/firncache/firn/internal/policy"

// reclaim frees about one segment: a mostly dead one is cleaned, otherwise the
// policy's queue gives up its oldest. It reports false if the shard holds none.
func (s *shard) reclaim() bool {
	if s.closed {
		return false
	}
	if id := s.cleanable.cheapest(); id != 0 {
		s.clean(id)
	} else if id := s.oldest(); id == 0 {
		return false
	} else if !s.takeGhosts() {
		s.evict(id)
	}
	s.returnSpare()
	return true
}

// oldest is the segment that the policy gives up.
func (s *shard) oldest() uint32 {
	q := s.tier.tuner.Plan().Victim(s.laneBytes())
	for range lanes {
		if s.queues[q].head == 0 && s.lanes[q].seg != 0 {
			s.seal(q)
		}
		if id := s.queues[q].head; id != 0 {
			return id
		}
		q = policy.Main - q
	}
	return 0
}

// clean moves the live records of a segment to the end of their lane.
func (s *shard) clean(id uint32) {
	lane := s.tier.segs[id].lane
	s.drain(id, func(e *entry) {
		if !s.move(e, lane, e.freq()) {
			s.leave(e)
		}
	})
}

// evict lets the records of a segment go, but for those that the policy wants
// to keep: all of them, perhaps, for as many rounds as frequencies count down.
// Where readers are faster, and it wants to keep everything for longer, it is not
// asked.
func (s *shard) evict(id uint32) {
	s.tier.full.Store(true)
	plan := s.tier.tuner.Plan()
	from := s.tier.segs[id].lane
	small, main := s.laneBytes()
	before, insists := small+main, s.spared > (policy.MaxFrequency+1)*(small+main)
	s.spared += int64(s.tier.segs[id].live)
	s.drain(id, func(e *entry) {
		small, main := s.laneBytes()
		to, freq := plan.Next(from, uint8(e.freq()), small, main)
		if to != policy.None && !insists && s.move(e, to, int(freq)) {
			s.count.Reinserted++
			s.count.ReinsertedBytes += e.rec.size
			return
		}
		s.ghosts.Evict(from, e.hash)
		s.leave(e)
	})
	if small, main := s.laneBytes(); small+main < before {
		s.spared = 0
	}
}

// drain disposes of every live record of a segment and frees it.
func (s *shard) drain(id uint32, dispose func(*entry)) {
	s.eachLive(id, func(e *entry) {
		if s.tier.gone(&e.rec) {
			s.expire(e)
			return
		}
		dispose(e)
	})
	s.release(id)
}

func (s *shard) expire(e *entry) {
	s.remove(e.hash, e.bucket, e.slot, &e.rec, Expired)
	s.count.Expired++
}

// move copies a record to the end of a lane. It reports false if there is no
// room to copy to.
func (s *shard) move(e *entry, q policy.Lane, freq int) bool {
	if need := s.wants(q, e.rec.size) - s.spare.n; need > 0 {
		if s.tier.pool.take(&s.spare, need) < need {
			return false
		}
	}
	off := s.extend(q, e.rec.size)
	s.copyRecord(off, &e.rec)
	if e.freq() > 0 {
		s.tier.noteRead(off)
	}
	s.appended(off, s.tier.deadline(&e.rec))
	e.bucket.SetLocation(e.slot, uint32(off>>s.tier.unitShift))
	e.bucket.SetFreq(e.slot, freq)
	s.kill(e.rec.off, e.rec.size)
	return true
}
