package ram

import (
	"github.com/firncache/firn/internal/policy"
	"github.com/firncache/firn/internal/ram/quotas"
)

// openCount marks a record that is about to be stored as counted, if its namespace has a quota.
func (s *shard) openCount(r *newRecord) (a *quotas.Account) {
	r.version &^= counted
	if a = s.tier.quotas.Of(r.key); a == nil || !a.Take(r.size) {
		return nil
	}
	r.version |= counted
	r.counts = true
	return a
}

// credit counts a record at off, at the end of a lane, whose bytes its account has taken.
func (s *shard) credit(a *quotas.Account, q policy.Lane, off, size uint64) {
	id, in := s.tier.segmentAt(off)
	a.Of(s.number).Add(q, quotas.Hand{Seg: id, At: in}, int64(size))
	s.tier.quotas.Mark(a, id)
}

// creditMoved counts the copy of a record at the end of a lane.
func (s *shard) creditMoved(q policy.Lane, off, size uint64) {
	if a := s.accountAt(off); a != nil {
		a.Total.Add(int64(size))
		s.credit(a, q, off, size)
	}
}

// debit takes a record out of its account.
func (s *shard) debit(off, size uint64) {
	a := s.accountAt(off)
	if a == nil {
		return
	}
	a.Of(s.number).Remove(s.laneOf(off), int64(size))
	a.Total.Add(-int64(size))
}

// accountAt is the account that counts the record at off, nil for none.
func (s *shard) accountAt(off uint64) *quotas.Account {
	t := s.tier
	if t.quotas.None() || t.header(off).version.Load()&counted == 0 {
		return nil
	}
	r := t.recordAt(off)
	return t.quotas.Of(s.part(&r, r.keyOffset(), quotas.NumberLen))
}

// debitAll takes all records of the shard, which Clear takes out, out of their accounts.
func (s *shard) debitAll() {
	for _, a := range s.tier.quotas.ByNumber() {
		a.Forget(s.number)
	}
}

// dequeue takes a segment out of its queue, and the hands out of the segment.
func (s *shard) dequeue(id uint32) {
	seg := &s.tier.segs[id]
	if accounts := s.tier.quotas.ByNumber(); accounts != nil {
		next := s.following(id)
		for _, a := range accounts {
			a.Of(s.number).Pass(seg.Queue, id, next)
		}
	}
	s.queues[seg.Queue].Remove(s.tier.segs, id)
	seg.Queue = policy.None
}

// following is the segment behind one in its lane, 0 if that is the last.
func (s *shard) following(id uint32) uint32 {
	switch seg := &s.tier.segs[id]; {
	case seg.Queue == policy.None:
		return 0
	case seg.Next != 0:
		return seg.Next
	default:
		return s.lanes[seg.Queue].Seg
	}
}

// isOverQuota reports whether the record at off is of a namespace above its quota.
func (s *shard) isOverQuota(off uint64) bool {
	a := s.accountAt(off)
	return a != nil && a.Quota.Load().Over()
}

// fitsQuota reports whether a record is no larger than its quota.
func (t *Tier) fitsQuota(r *newRecord) bool {
	a := t.quotas.Of(r.key)
	return a == nil || a.Quota.Load().Fits(int64(r.size))
}

// fillsQuota reports whether the namespace of a key has about as many bytes as its quota.
func (t *Tier) fillsQuota(key []byte) bool {
	a := t.quotas.Of(key)
	return a != nil && a.Quota.Load().Filled()
}
