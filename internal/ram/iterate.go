package ram

import "github.com/firncache/firn/internal/evicted"

// All calls yield for every record that has not expired, until yield returns
// false. The slices are lent until yield returns. A record that is there from
// beginning to end is yielded once; one that comes, goes or changes meanwhile
// may or may not be. No lock is held while yield runs.
func (t *Tier) All(yield func(key, value []byte) bool) {
	var copies evicted.Copies
	for i := range t.shards {
		if !t.shards[i].all(&copies, yield) {
			return
		}
	}
}

// all is All of a shard: copies are those of a step.
func (s *shard) all(copies *evicted.Copies, yield func(key, value []byte) bool) bool {
	for at, first := uint64(0), true; first || at != 0; first = false {
		at = s.copyFrom(copies, at)
		if !copies.Each(func(key, value []byte, _ evicted.Cause) bool { return yield(key, value) }) {
			return false
		}
	}
	return true
}

// copyFrom copies records from a position on, and returns where the next step begins.
func (s *shard) copyFrom(copies *evicted.Copies, at uint64) (next uint64) {
	copies.Clear()
	s.mu.Lock()
	defer s.unlockAndNotify()
	return s.eachFrom(at, func(_ uint64, loc uint32) {
		r := s.tier.recordAt(s.tier.place(loc))
		if !s.tier.expired(&r) {
			key, value := s.keyValue(&r)
			s.work.bytes += len(key) + len(value)
			copies.Add(key, value, 0)
		}
	})
}
