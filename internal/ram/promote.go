package ram

import "github.com/firncache/firn/internal/evicted"

// PromoteTouched is Promote of a record with a later deadline than it was read with.
func (t *Tier) PromoteTouched(hash uint64, key, value []byte, deadline int64, token uint64) bool {
	return t.promoteWith(wasRead|lowerCopy|olderCopy, hash, key, value, deadline, token)
}

// Promote stores a record that was read in the lower tier as token, if its key is
// absent here and the lower tier still holds the token: in that case nothing newer was
// set, or deleted, since. It enters the lane of a new key, invalidates nothing and
// counts as promoted, not as set. It reports whether the record was stored: one that is
// too large, or past its grace, is not, nor one for which others would have to be
// demoted while the lower tier is not WaitForRoom.
func (t *Tier) Promote(hash uint64, key, value []byte, deadline int64, token uint64) bool {
	return t.promoteWith(wasRead|lowerCopy, hash, key, value, deadline, token)
}

func (t *Tier) promoteWith(flags uint32, hash uint64, key, value []byte, deadline int64, token uint64) bool {
	r := t.newRecord(hash, key, value, deadline)
	r.version, r.promoted, r.waited = flags, true, noWait
	if deadline != 0 {
		t.expectExpiry()
	}
	var ev evicted.List
	ok := t.promote(&r, token, &ev)
	ev.Notify()
	if ok {
		t.simulatePromotion(&r)
	}
	return ok
}

// promote tries until the shard has the segments that the record takes. To get
// them it gives up the lock, and then checks everything again.
func (t *Tier) promote(r *newRecord, token uint64, ev *evicted.List) bool {
	s := t.shardOf(r.hash)
	s.mu.Lock()
	for s.promotable(r, token) {
		missing := s.insert(r)
		if missing == 0 {
			s.count.Promoted++
			t.finishAppend(s, r, nil, ev)
			return true
		}
		if s.refill(r, missing, ev) != nil {
			break
		}
	}
	s.endWrite(r, ev)
	return false
}

// promotable reports whether the record may be stored now. It takes an older record of
// the key out if that is past its grace.
func (s *shard) promotable(r *newRecord, token uint64) bool {
	t := s.tier
	if s.closed || t.lower == nil || !t.fits(r) || t.isPastGrace(r.deadline) {
		return false
	}
	if b, slot, old, found := s.find(r.hash, r.key); found {
		if !t.pastGrace(&old) {
			return false
		}
		s.expire(r.hash, b, slot, &old)
	}
	return t.lower.IsCurrent(r.hash, token)
}
