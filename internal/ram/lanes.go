package ram

import (
	"github.com/firncache/firn/internal/offheap"
	"github.com/firncache/firn/internal/policy"
	"github.com/firncache/firn/internal/ram/segments"
)

// The lanes are package policy's: it decides which one a new record enters, and which
// one gives up its oldest segment.

// laneOfNew is the lane for a record whose key was absent. A namespace that has filled its quota
// is as a cache that is full.
func (s *shard) laneOfNew(hash uint64, key []byte) policy.Lane {
	t := s.tier
	filling := !t.full.Load()
	t.tuner.Insert(hash, int64(s.table.Len())*int64(len(t.shards)), filling)
	if filling && !t.fillsQuota(key) {
		return policy.Main
	}
	return s.ghosts.Lane(hash, s.tailStamp(policy.Small), s.tailStamp(policy.Main))
}

// tailStamp is when the oldest segment of a lane was opened, on the shard's
// clock of evictions.
func (s *shard) tailStamp(q policy.Lane) uint32 {
	if id := s.queues[q].Head; id != 0 {
		return s.tier.segs[id].Stamp
	}
	if id := s.lanes[q].Seg; id != 0 {
		return s.tier.segs[id].Stamp
	}
	return s.ghosts.Clock()
}

// oldest is the segment that the policy gives up, 0 if the shard has none.
func (s *shard) oldest() uint32 {
	q := s.tier.tuner.Setting().Victim(s.laneBytes())
	for range segments.Lanes {
		if s.queues[q].Head == 0 && s.lanes[q].Seg != 0 {
			s.seal(q)
		}
		if id := s.queues[q].Head; id != 0 {
			return id
		}
		q = policy.Main - q
	}
	return 0
}

// takeGhosts gives the shard, when it first has to evict, ghosts in proportion to
// its entries. Memory that was kept for them and is not needed becomes room: it reports
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

// grantGhosts charges the ghosts of a shard of so many entries to the budget, in place
// of the room that was kept for them.
func (t *Tier) grantGhosts(entries int64) (bytes int64, freed bool) {
	t.pool.Lock()
	defer t.pool.Unlock()
	bytes = t.ghostBytes(entries)
	t.ghostless--
	t.overhead.Add(bytes)
	was := t.pool.Limit
	t.setLimitLocked(t.bytes.Load())
	return bytes, t.pool.Limit > was
}
