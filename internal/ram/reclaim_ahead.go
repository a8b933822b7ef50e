package ram

// A segment that is freed when a write lacks it costs that one write all of the
// drain. Once the tier is full, each write therefore does a part of that ahead of
// need: a step of a drain for about as many bytes as a step frees, while few segments
// are free.

// owesDrainStep reports whether the writer has a step to do, and counts it as done.
func (s *shard) owesDrainStep() bool {
	if s.drainDebt <= 0 {
		return false
	}
	t := s.tier
	step := min(int64(t.maxWalk)*int64(t.meanRecordBytes.Load()), walkBytes)
	s.drainDebt -= step - step/4 // more is drained than is stored, lest need comes first
	return t.full.Load() && int64(t.segSize()) >= minSteps*step
}

// minSteps is how many steps a drain takes, at least, for which that is worth it.
const minSteps = 4

// reclaimAhead does a step of a drain, unless there is no need, or the lower tier has
// no room for demotions. The caller holds no shard's lock.
func (t *Tier) reclaimAhead(s *shard, ev *Evicted) {
	if !t.pool.short(t.freeAhead) || !t.lowerReady() {
		return
	}
	s = t.victimShard(s)
	s.mu.Lock()
	s.reclaimStep()
	s.unlock(ev)
}
