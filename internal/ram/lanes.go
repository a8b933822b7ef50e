package ram

import (
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

// laneOf is the lane that a record was appended to.
func (s *shard) laneOf(off uint64) policy.Lane {
	id, _ := s.tier.segmentAt(off)
	return s.tier.segs[id].Lane
}
