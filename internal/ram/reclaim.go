package ram

import (
	"github.com/firncache/firn/internal/evicted"
	"github.com/firncache/firn/internal/policy"
	"github.com/firncache/firn/internal/ram/segments"
)

// reclaim frees about one segment, a step at a time: a mostly dead one is cleaned,
// otherwise the policy's lane gives up its oldest. Several callers do the steps of one
// drain by turns, and all have it freed by the last step. mayGo is asked before each
// step, with no lock held; if it says that no record may leave now, may is false. freed
// is false if the shard has no segment to free, or if long records have to be demoted
// first, which ev tells then. The evicted records are added to ev.
func (s *shard) reclaim(ev *evicted.List, mayGo func() bool) (freed, may bool) {
	if !mayGo() {
		return false, false
	}
	s.mu.Lock()
	for ended := s.drain.ended; s.drain.ended == ended; {
		if s.demotions.leaving() {
			ev.DemoteFirst = s.number
			s.unlock(ev)
			return false, true
		}
		if !s.reclaimStep() {
			s.unlock(ev)
			return false, true
		}
		if s.drain.ended != ended {
			break
		}
		s.unlock(ev)
		s.tier.pause()
		if !mayGo() {
			return false, false
		}
		s.mu.Lock()
	}
	if s.demotions.leaving() {
		ev.DemoteFirst = s.number
	}
	s.returnSpare()
	s.unlock(ev)
	return true, true
}

// always lets any record leave.
func always() bool { return true }

// reclaimStep does a step of the drain that is under way, and of a new one if there
// is none. It reports false if there is nothing to drain. What Clear has emptied, and what
// the index no longer needs, is given back first.
func (s *shard) reclaimStep() bool {
	switch {
	case s.closed:
		return false
	case s.dead.Head != 0:
		s.bury(s.dead.Head)
		s.drain.ended++
		return true
	case s.drain.id == 0 && s.retireChunks() > 0:
		s.drain.ended++
		return true
	case s.drain.id == 0 && !s.choose():
		return false
	}
	if s.drain.id != 0 {
		s.drainStep()
	}
	return true
}

// choose begins a drain. If the ghosts leave room for a segment, it is over at once.
func (s *shard) choose() bool {
	if id := s.cleanable.Cheapest(); id != 0 {
		s.beginDrain(id, true)
	} else if id := s.oldest(); id == 0 {
		return false
	} else if s.takeGhosts() {
		s.drain.ended++
	} else {
		s.beginDrain(id, false)
	}
	return true
}

// lowerReady reports whether the lower tier, if there is one, has room for demotions.
func (t *Tier) lowerReady() bool {
	if t.lower == nil {
		return true
	}
	_, ok := t.lower.WaitForRoom(noWait)
	return ok
}

// victimShard is the shard to reclaim from: the one that needs the segment, unless
// it holds less than fifteen sixteenths of its share: nearer to that, all writers would meet
// in the one shard that holds most just then.
func (t *Tier) victimShard(self *shard) *shard {
	best, most, total := self, int64(0), int64(0)
	for i := range t.shards {
		held := t.shards[i].held.Load()
		total += held
		if held > most {
			best, most = &t.shards[i], held
		}
	}
	if self.held.Load()*int64(len(t.shards)) >= total-total/16 {
		return self
	}
	return best
}

// Records of a namespace that is above its quota leave in the order in which the policy would
// take them from a cache of that size: the bytes of its account in the two lanes say which lane
// is next, and a hand goes along that lane, past the records of others, of which it reads no more
// than the header.

// Quota is that of the namespace of which the current generation has this number, from now on
// with max bytes. With 0 there is no limit, and nil is returned unless there was a quota before.
// Records of the generation that are there and were stored without one are in no account until
// they are written or moved; they leave as others do.
func (t *Tier) Quota(number uint64, limit int64) *Quota {
	return t.quotas.quota(number, limit, len(t.shards), len(t.segs))
}

// holdQuota has records leave after one was stored, until its namespace is within its quota, or
// near to that after a few steps. It waits for the lower tier as a write that lacks segments does.
// The caller holds no lock.
func (t *Tier) holdQuota(s *shard, r *newRecord, ev *evicted.List) {
	a := t.quotas.of(r.key)
	if a == nil {
		return
	}
	q := a.quota.Load()
	for steps := 0; q.exceeded(steps) && !t.closed.Load(); steps++ {
		if r.waited != noWait && !t.lowerReady() {
			t.awaitLower(r)
		}
		if !t.quotaStep(q, s, ev) {
			return
		}
		t.pause()
	}
}

// quotaStep does a step of the eviction for a quota, in a shard that holds much of it. It reports
// false if there is nothing to evict.
func (t *Tier) quotaStep(q *Quota, self *shard, ev *evicted.List) bool {
	a := q.next()
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
func (t *Tier) holderOf(a *account, self *shard) *shard {
	total := a.total.Load()
	if n := a.shards[self.number-1].all.Load(); n > 0 && n*int64(len(t.shards)) >= total-total/16 {
		return self
	}
	best, most := self, int64(0)
	for i := range a.shards {
		if n := a.shards[i].all.Load(); n > most {
			best, most = &t.shards[i], n
		}
	}
	return best
}

// evictCounted moves a hand on until records of the account have left, or a step is done. It
// reports false if it found none.
func (s *shard) evictCounted(a *account, q *Quota) bool {
	h := &a.shards[s.number-1]
	lane := s.tier.tuner.Setting().Victim(h.bytes[policy.Small], h.bytes[policy.Main])
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
func (s *shard) advance(a *account, q *Quota, lane policy.Lane) bool {
	h := &a.shards[s.number-1].hands[lane]
	for looked := 0; looked < maxLook && q.Used() > q.max.Load(); looked++ {
		if h.seg == 0 {
			return looked > 0
		}
		id, seg := h.seg, &s.tier.segs[h.seg]
		at := max(h.at, seg.First)
		if at >= seg.End || s.tier.quotas.marks[id]&a.mark == 0 {
			next := s.following(id)
			if next == 0 {
				return looked > 0
			}
			*h = hand{seg: next}
			continue
		}
		off := uint64(id)<<s.tier.segShift + uint64(at)
		r := s.tier.recordAt(off)
		h.at = at + uint32(min(r.size, uint64(s.tier.segSize())))
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
func (s *shard) meet(a *account, q *Quota, r *stored) {
	t, h := s.tier, &a.shards[s.number-1]
	hash := t.Hash(s.key(r))
	b, slot, live := s.table.Find(hash, uint32(r.off>>t.unitShift))
	if !live {
		return
	}
	e := entry{hash, b, slot, *r}
	from := s.laneOf(r.off)
	small, main := h.bytes[policy.Small], h.bytes[policy.Main]
	to, freq := t.tuner.Setting().Next(from, uint8(e.freq()), small, main)
	switch {
	case t.pastGrace(r):
		s.expire(hash, b, slot, r)
	case to != policy.None && a.live.Load() && h.kept <= (policy.MaxFrequency+1)*(small+main) && s.move(&e, to, int(freq)):
		h.kept += int64(r.size)
		return
	default:
		s.ghosts.Evict(from, hash)
		s.evictOrDemote(&e, t.clock.now(), evicted.OverQuota)
	}
	h.kept = 0
}
