package ram

import (
	"github.com/firncache/firn/internal/evicted"
	"github.com/firncache/firn/internal/policy"
	"github.com/firncache/firn/internal/ram/quotas"
	"github.com/firncache/firn/internal/ram/segments"
)

// Records of a namespace that is above its quota leave in the order in which the policy would
// take them from a cache of that size: the bytes of its account in the two lanes say which lane
// is next, and a hand goes along that lane, past the records of others, of
// each of those it reads the header alone.

// Quota is that of the namespace whose current generation has this number, from now on with
// limit bytes. With 0 there is no limit, and nil is returned unless there was a quota before.
// Records of the generation that are there and were stored without one are in no account until
// they are written or moved; they leave as others do.
func (t *Tier) Quota(number uint64, limit int64) *quotas.Quota {
	return t.quotas.Quota(number, limit, len(t.shards), len(t.segs))
}

// holdQuota has records leave after one was stored, until its namespace is within its quota, or
// near to that after a few steps. It waits for the lower tier as a write that lacks segments does.
// The caller holds no lock.
func (t *Tier) holdQuota(s *shard, r *newRecord, ev *evicted.List) {
	a := t.quotas.Of(r.key)
	if a == nil {
		return
	}
	q := a.Quota.Load()
	for steps := 0; q.Exceeded(steps) && !t.closed.Load(); steps++ {
		t.letLower(r)
		if !t.quotaStep(q, s, ev) {
			return
		}
		t.pause()
	}
}

// quotaStep does a step of the eviction for a quota, in a shard that holds much of it. It reports
// false if there is nothing to evict.
func (t *Tier) quotaStep(q *quotas.Quota, self *shard, ev *evicted.List) bool {
	a := q.Next()
	if a == nil {
		return false
	}
	s := t.holderOf(a, self)
	s.mu.Lock()
	did := !s.closed && s.evictCounted(a, q)
	s.countAges()
	if s.demotions.leaving() {
		ev.DemoteFirst = s.number
	}
	s.returnSpare()
	s.unlock(ev)
	t.finishDemotions(ev)
	return did
}

// holderOf is the shard to evict an account's records from: as victimShard.
func (t *Tier) holderOf(a *quotas.Account, self *shard) *shard {
	total := a.Total.Load()
	if n := a.Of(self.number).All.Load(); n > 0 && n*int64(len(t.shards)) >= total-total/16 {
		return self
	}
	best, most := self, int64(0)
	for i := range t.shards {
		if n := a.Of(t.shards[i].number).All.Load(); n > most {
			best, most = &t.shards[i], n
		}
	}
	return best
}

// evictCounted moves a hand on until records of the account have left, or a step is done. It
// reports false if it found none.
func (s *shard) evictCounted(a *quotas.Account, q *quotas.Quota) bool {
	h := a.Of(s.number)
	lane := s.tier.tuner.Setting().Victim(h.Bytes[policy.Small], h.Bytes[policy.Main])
	for range segments.Lanes {
		if s.advance(a, q, lane) {
			return true
		}
		lane = policy.Main - lane
	}
	if s.drain.id == 0 { // else they may lie in the segment that is being drained
		return false
	}
	s.drainStep()
	return true
}

// advance moves the hand in one lane. It reports false if that is at the end of the lane.
func (s *shard) advance(a *quotas.Account, q *quotas.Quota, lane policy.Lane) bool {
	h := &a.Of(s.number).Hands[lane]
	for looked := 0; looked < maxLook && q.Over(); looked++ {
		if h.Seg == 0 {
			return looked > 0
		}
		id, seg := h.Seg, &s.tier.segs[h.Seg]
		at := max(h.At, seg.First)
		if at >= seg.End || !s.tier.quotas.Marked(a, id) {
			next := s.following(id)
			if next == 0 {
				return looked > 0
			}
			*h = quotas.Hand{Seg: next}
			continue
		}
		off := uint64(id)<<s.tier.segShift + uint64(at)
		r := s.tier.recordAt(off)
		h.At = at + uint32(min(r.size, uint64(s.tier.segSize())))
		if s.accountAt(off) != a {
			continue
		}
		s.walking = id
		s.meet(a, q, &r)
		s.walking = 0
		s.releaseOrGrade(id)
		if s.work.records++; s.stepDone() || s.demotions.leaving() {
			return true
		}
	}
	return true
}

// maxLook is how many records and segments a step passes at most: the processor foresees the next.
const maxLook = 8 * stepRecords

// meet evicts a record that the hand has come to, if it is live, unless the policy keeps it.
func (s *shard) meet(a *quotas.Account, q *quotas.Quota, r *stored) {
	t, h := s.tier, a.Of(s.number)
	hash := t.Hash(s.key(r))
	b, slot, live := s.table.Find(hash, uint32(r.off>>t.unitShift))
	if !live {
		return
	}
	e := entry{hash, b, slot, *r}
	from := s.laneOf(r.off)
	small, main := h.Bytes[policy.Small], h.Bytes[policy.Main]
	to, freq := t.tuner.Setting().Next(from, uint8(e.freq()), small, main)
	switch {
	case t.pastGrace(r):
		s.expire(hash, b, slot, r)
	case to != policy.None && a.Live.Load() && h.Kept <= (policy.MaxFrequency+1)*(small+main) && s.move(&e, to, int(freq)):
		h.Kept += int64(r.size)
		return
	default:
		s.ghosts.Evict(from, hash)
		s.evictOrDemote(&e, t.clock.now(), evicted.OverQuota)
	}
	h.Kept = 0
}

// HoldQuota has records leave until the quota holds, whatever it was before, and what the accounts
// take is taken from the budget. It waits for the lower tier as one write does, and calls OnEvict
// in steps. The caller holds no lock.
func (t *Tier) HoldQuota(q *quotas.Quota) {
	t.quotas.Charge(t.Reserve)
	var patience newRecord // of none, which counts how long was waited
	for more := true; more && q.Over() && !t.closed.Load(); {
		t.letLower(&patience)
		var ev evicted.List
		more = t.quotaStep(q, &t.shards[0], &ev)
		ev.Notify()
	}
}
