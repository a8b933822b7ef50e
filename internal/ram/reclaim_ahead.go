package ram

import "github.com/firncache/firn/internal/evicted"

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
	s.drainDebt -= int64(n) * (step - step/4) // more is drained than is stored, lest need comes first
	if !t.full.Load() || int64(t.segSize()) < minSteps*step {
		return 0
	}
	return n
}

// minSteps is how many steps a drain takes, at least, for which that is worth it, and
// maxSteps how many a write does at most. The others of a long record are left to
// the next writes.
const (
	minSteps = 4
	maxSteps = 4
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
	s.reclaimStep()
	s.unlock(ev)
}
