package ram

import (
	"slices"
	"time"

	"github.com/firncache/firn/internal/evicted"
)

// A record that is too long to be demoted under a lock is demoted in parts. It stays
// where it is meanwhile, can be found, and nothing is copied but the next part; the
// shard's lock is held for one part at a time. With the last part the lower tier has
// the record, which then goes here, unless its key was written since.

// finishDemotions brings all pending demotions of the shard to their ends. One
// goroutine at a time does; others wait for it. The caller holds no lock.
func (s *shard) finishDemotions(ev *evicted.List, patient bool) {
	s.mu.Lock()
	for len(s.demotions) > 0 {
		if others := s.demoting; others != nil {
			s.unlock(ev)
			<-others
			s.mu.Lock()
			continue
		}
		mine := make(chan struct{})
		s.demoting = mine
		for len(s.demotions) > 0 {
			s.demoteInParts(s.demotions[0], ev, patient)
			s.demotions = slices.Delete(s.demotions, 0, 1)
		}
		s.demoting = nil
		close(mine)
	}
	s.returnSpare()
	s.unlock(ev)
}

// demoteInParts puts the parts of one record, and takes it out unless it stays. It
// gives up the lock, and takes it again.
func (s *shard) demoteInParts(d *pendingDemotion, ev *evicted.List, patient bool) {
	waited, late, more := time.Duration(0), false, true
	for more && s.alive(d) {
		ended, ok, again := s.putNextPart(d)
		switch {
		case ok && ended:
			d.done = true
			s.endDemotion(d)
			return
		case ok:
			s.unlock(ev)
			s.tier.pause()
			s.mu.Lock()
		case again:
			s.unlock(ev)
			waited, more = d.to.Wait(waited, patient)
			late = !more
			s.mu.Lock()
		default:
			more = false
		}
	}
	if s.alive(d) {
		r := s.tier.recordAt(d.off)
		s.aborted.records++
		s.aborted.bytes += int64(r.shape.KeyLen() + r.valueLen)
	}
	d.to.Abort(late)
	s.endDemotion(d)
}

// alive reports whether the record is still its key's.
func (s *shard) alive(d *pendingDemotion) bool {
	if s.closed || d.off == 0 {
		return false
	}
	r := s.tier.recordAt(d.off)
	return !s.tier.pastGrace(&r)
}

// putNextPart puts the next part, or the end of the record if all were put.
func (s *shard) putNextPart(d *pendingDemotion) (ended, ok, again bool) {
	r := s.tier.recordAt(d.off)
	if d.stays { // before there is a copy
		h := s.tier.header(r.off)
		h.version.Store(h.version.Load() | lowerCopy)
	}
	if d.to.Whole() {
		ok, again = d.to.PutAll(s.keyValue(&r))
		return true, ok, again
	}
	if from, n := d.to.NextPart(); n > 0 {
		ok, again = d.to.PutPart(s.part(&r, r.valueOffset()+from, n))
		return false, ok, again
	}
	ok, again = d.to.Commit(s.key(&r))
	return true, ok, again
}

// endDemotion takes the record out here, unless it stays, or has died.
func (s *shard) endDemotion(d *pendingDemotion) {
	if s.closed || d.off == 0 || d.stays {
		return
	}
	r := s.tier.recordAt(d.off)
	b, slot, ok := s.table.Find(d.hash, uint32(d.off>>s.tier.unitShift))
	defer s.countAges()
	switch now := s.tier.clock.now(); {
	case !ok: // it cannot be
	case d.done:
		s.noteAge(d.off, now)
		s.remove(d.hash, b, slot, &r, evicted.Demoted)
		s.count.Demoted++
	case s.tier.pastGrace(&r):
		s.expire(d.hash, b, slot, &r)
	default:
		s.noteAge(d.off, now)
		cause := evicted.Capacity
		if d.quota {
			cause = evicted.OverQuota
		}
		s.evict(d.hash, b, slot, &r, cause)
	}
}

// finishDemotions is that of the shard which ev names, if it names one.
func (t *Tier) finishDemotions(ev *evicted.List) {
	if n := ev.DemoteFirst; n != 0 {
		ev.DemoteFirst = 0
		t.shards[n-1].finishDemotions(ev, false)
	}
}

// finishDemotionsPatiently is finishDemotions for a caller that holds up no other.
func (s *shard) finishDemotionsPatiently() {
	var ev evicted.List
	s.finishDemotions(&ev, true)
	ev.Notify()
}
