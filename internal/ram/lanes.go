package ram

import (
	"math"

	"github.com/firncache/firn/internal/offheap"
	"github.com/firncache/firn/internal/policy"
)

// What follows connects the tier to package policy, which decides.

// laneBytes are the bytes of live records in the two lanes.
func (s *shard) laneBytes() (small, main int64) {
	return int64(s.queues[policy.Small].bytes), int64(s.queues[policy.Main].bytes)
}

// laneOfNew is the lane for a record whose key was absent.
func (s *shard) laneOfNew(hash uint64) policy.Lane {
	t := s.tier
	filling := !t.full.Load()
	if t.tuner.Sampled(hash) {
		t.tuner.Insert(hash, int64(s.table.Len())*int64(len(t.shards)), filling)
	}
	if filling {
		return policy.Main
	}
	return s.ghosts.Lane(hash, s.tailStamp(policy.Small), s.tailStamp(policy.Main))
}

// tailStamp is when the oldest segment of a lane was opened, on the shard's
// clock of evictions.
func (s *shard) tailStamp(q policy.Lane) uint32 {
	if id := s.queues[q].head; id != 0 {
		return s.tier.segs[id].stamp
	}
	if id := s.lanes[q].seg; id != 0 {
		return s.tier.segs[id].stamp
	}
	return s.ghosts.Clock()
}

// takeGhosts gives the shard, when it first has to evict, ghosts in proportion to
// its entries. What was kept for them and is not needed becomes room: it reports
// whether that makes a segment.
func (s *shard) takeGhosts() (freed bool) {
	if s.hasGhosts {
		return false
	}
	t := s.tier
	s.hasGhosts = true
	bytes, freed := t.grantGhosts(int64(s.table.Len()))
	s.ghosts = policy.NewGhosts(offheap.View[uint64](t.region.Bytes(s.ghostsAt(), int(bytes))))
	return freed
}

// ghostsAt is where the shard's ghosts lie in the region.
func (s *shard) ghostsAt() uint64 { return s.tier.ghostAt + uint64(s.number-1)*s.tier.ghostMax }

// prefetchGhost starts to load the place of a key's ghost.
func (s *shard) prefetchGhost(hash uint64) {
	if off, ok := s.ghosts.Offset(hash); ok {
		s.tier.region.Prefetch(s.ghostsAt() + off)
	}
}

// grantGhosts charges the ghosts of a shard of so many entries in place of what
// was kept for them.
func (t *Tier) grantGhosts(entries int64) (bytes int64, freed bool) {
	t.pool.mu.Lock()
	defer t.pool.mu.Unlock()
	bytes = t.ghostBytes(entries)
	t.ghostless--
	t.overhead.Add(bytes)
	was := t.pool.limit
	t.setLimitLocked(t.bytes.Load())
	return bytes, t.pool.limit > was
}

// ghostBytes is what the ghosts of a shard of so many entries take.
func (t *Tier) ghostBytes(entries int64) int64 {
	own := t.bytes.Load() - t.lent.Load()
	return min(8*int64(policy.GhostWords(entries, own/int64(len(t.shards)))), int64(t.ghostMax))
}

// keptForGhosts is the part of the budget that shards without ghosts may need for
// them: were it used for records, these would have to leave, all at once, when
// eviction begins. The caller holds the pool's lock.
func (t *Tier) keptForGhosts() int64 { return int64(t.ghostless) * t.ghostBytes(math.MaxInt32) }
