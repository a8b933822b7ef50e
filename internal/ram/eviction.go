package ram

import (
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

// beginEvicting ends the time when the tier was filling, and gives the shard
// ghosts in proportion to its entries.
func (s *shard) beginEvicting() {
	t := s.tier
	t.full.Store(true)
	if s.hasGhosts {
		return
	}
	s.hasGhosts = true
	words := policy.GhostWords(int64(s.table.Len()), (t.bytes.Load()-t.lent.Load())/int64(len(t.shards)))
	words = min(words, int(t.ghostMax/8))
	at := t.ghostAt + uint64(s.number-1)*t.ghostMax
	s.ghosts = policy.NewGhosts(offheap.View[uint64](t.region.Bytes(at, 8*words)))
	t.charge(int64(8 * words))
}
