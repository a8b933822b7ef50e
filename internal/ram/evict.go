package ram

import (
	"github.com/firncache/firn/internal/evicted"
	"github.com/firncache/firn/internal/policy"
)

// beginDrain takes a segment out of its queue, to clean it or to evict its records. All
// of them are evicted if the policy has kept everything for as many rounds as
// frequencies count down: readers then raise them faster than rounds lower them.
func (s *shard) beginDrain(id uint32, cleans bool) {
	d, seg := &s.drain, &s.tier.segs[id]
	s.dequeue(id)
	s.cleanable.Move(s.tier.segs, id, 0)
	d.walk, d.cleans = walk{id: id}, cleans
	d.leavesGhosts = !cleans && seg.Lane == policy.Small
	if !cleans {
		small, main := s.laneBytes()
		d.evictsAll = s.keptBytes > (policy.MaxFrequency+1)*(small+main)
		s.tier.full.Store(true)
	}
}

// drainStep does a step. The last one releases the segment, or if long records are
// being demoted from there, the end of the last of these demotions.
func (s *shard) drainStep() {
	s.drain.now = s.tier.clock.now()
	if more := s.walkStep(&s.drain.walk, s.drainRecord); !more && s.drain.id != 0 && !s.demotions.holdDrain() {
		s.release(s.drain.id)
	}
	s.countAges()
}

// drainRecord takes a live record out of the segment that is being drained.
func (s *shard) drainRecord(e *entry) {
	switch {
	case s.tier.pastGrace(&e.rec):
		s.expire(e.hash, e.bucket, e.slot, &e.rec)
		s.keptBytes = 0
	case s.isObsolete(&e.rec):
		s.dropLowerCopy(e.hash, &e.rec)
		s.remove(e.hash, e.bucket, e.slot, &e.rec, evicted.Deleted)
		s.count.Obsolete++
		s.keptBytes = 0
	case s.isOverQuota(e.rec.off):
		s.evictOrDemote(e, s.drain.now, evicted.OverQuota)
	case s.drain.cleans:
		s.moveOrEvict(e)
	default:
		s.keepOrEvict(e)
	}
}

// moveOrEvict cleans: it moves a record to the end of its lane.
func (s *shard) moveOrEvict(e *entry) {
	if !s.move(e, s.tier.segs[s.drain.id].Lane, e.freq()) {
		s.evictOrDemote(e, s.drain.now, evicted.Capacity)
	}
}

// keepOrEvict evicts or demotes a record, unless the policy wants to keep it.
func (s *shard) keepOrEvict(e *entry) {
	s.tier.tuner.Drained(e.hash, uint8(e.freq()))
	setting, from := s.tier.tuner.Setting(), s.tier.segs[s.drain.id].Lane
	small, main := s.laneBytes()
	to, freq := setting.Next(from, uint8(e.freq()), small, main)
	if to != policy.None && !s.drain.evictsAll && s.move(e, to, int(freq)) {
		s.count.Reinserted++
		s.count.ReinsertedBytes += e.rec.size
		s.keptBytes += int64(e.rec.size)
		return
	}
	s.ghosts.Evict(from, e.hash)
	s.evictOrDemote(e, s.drain.now, evicted.Capacity)
	s.keptBytes = 0
}

// move copies a record to the end of a lane. It reports false if there is no
// room to copy to.
func (s *shard) move(e *entry, q policy.Lane, freq int) bool {
	if need := s.wants(q, e.rec.size) - s.spare.N; need > 0 {
		if s.tier.pool.Take(&s.spare, need) < need {
			return false
		}
	}
	off := s.extend(q, e.rec.size)
	s.copyRecord(off, &e.rec)
	if e.freq() > 0 {
		s.tier.noteRead(off)
	}
	s.appended(off, s.tier.deadline(&e.rec))
	s.creditMoved(q, off, e.rec.size)
	e.bucket.SetLocation(e.slot, uint32(off>>s.tier.unitShift))
	e.bucket.SetFreq(e.slot, freq)
	s.kill(e.rec.off, e.rec.size)
	return true
}
