package ram

import (
	"github.com/firncache/firn/internal/evicted"
)

// reclaim frees about one segment, a step at a time: a mostly dead one is cleaned,
// otherwise the policy's lane gives up its oldest. Several callers do the steps of one
// drain by turns, and all have it freed by the last step. mayGo is called before each
// step, with no lock held; if it says that no record may leave now, may is false. freed
// is false if the shard has no segment to free, or if long records have to be demoted
// first, as ev says then. The evicted records are added to ev.
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

// A segment that is freed when a write lacks it costs that one write all of the
// drain. Once the tier is full, each write therefore does a part of that ahead of
// need: as many steps of a drain as free what it has stored, while few segments are free.

// owesDrainSteps is how many steps the writer has to do, and counts them as done.
func (s *shard) owesDrainSteps() (n int) {
	if s.drainDebt <= 0 {
		return 0
	}
	t, mean := s.tier, int64(s.tier.meanRecordBytes.Load())
	step := max(min(int64(t.maxWalk)*mean, stepBytes), mean, 1)
	n = int(min(1+s.drainDebt/step, maxSteps))
	s.drainDebt -= int64(n) * (step - step/4) // more is drained than is stored, so as to stay ahead of need
	switch long := int64(t.segSize()) < minSteps*step; {
	case !t.full.Load():
		return 0
	case long && t.lower != nil: // a step may begin a demotion that the next write has to wait for
		return 0
	case long && int64(t.freeAhead)<<t.segShift > t.bytes.Load()/aheadShare:
		return 0
	}
	return n
}

const (
	// maxSteps is how many steps a write does at most. The others of a long record are left to
	// the next writes.
	maxSteps = 4
	// minSteps is how many steps a drain takes, at least, for which that is always worth it. A drain
	// of long records, or of a short segment, takes fewer.
	minSteps = 4
	// aheadShare is the part of the budget, as 1/aheadShare, that may be free ahead of need for drains of
	// fewer steps: in a cache of some KiB, the segments kept free would be much of it.
	aheadShare = 256
)

// reclaimAhead does steps of a drain while there is need, and the lower tier has room
// for demotions. The caller holds no shard's lock.
func (t *Tier) reclaimAhead(s *shard, steps int, ev *evicted.List) {
	for ; steps > 0 && t.pool.Short(t.freeAhead) && t.lowerReady(); steps-- {
		s.reclaimStepAhead(ev)
	}
}

// reclaimStepAhead does a step of the drain that is under way in the shard, or one in
// the shard that is next to give a segment up.
func (s *shard) reclaimStepAhead(ev *evicted.List) {
	s.mu.Lock()
	if s.drain.id == 0 {
		s.unlock(ev)
		if s = s.tier.victimShard(s); !s.mu.TryLock() {
			return // another writer is at it
		}
	}
	if s.drain.id != 0 || s.dead.Head != 0 || !s.nextHasNewest() {
		s.reclaimStep()
	}
	s.unlock(ev)
}

// nextHasNewest reports whether the next drain would be of the segment where the shard's newest
// record starts, which a step ahead of need leaves alone: what was just written can be read.
func (s *shard) nextHasNewest() bool {
	id := s.cleanable.Cheapest()
	if id == 0 {
		id = s.queues[s.tier.tuner.Setting().Victim(s.laneBytes())].Head
	}
	return id == 0 || id == s.newest
}
