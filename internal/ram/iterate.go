package ram

import "github.com/firncache/firn/internal/evicted"

// All calls yield for every record that has not expired, until yield returns
// false. The slices are lent until yield returns. A record that is there from
// beginning to end is yielded once; one that comes, goes or changes meanwhile
// may or may not be. No lock is held while yield runs.
func (t *Tier) All(yield func(key, value []byte) bool) {
	var it iteration
	for i := range t.shards {
		if !it.shard(&t.shards[i], yield) {
			return
		}
	}
}

// iteration holds copies of the records of a step.
type iteration struct{ evicted.Copies }

func (it *iteration) shard(s *shard, yield func(key, value []byte) bool) bool {
	for at, first := uint64(0), true; first || at != 0; first = false {
		at = it.step(s, at)
		if !it.Each(func(key, value []byte, _ evicted.Cause) bool { return yield(key, value) }) {
			return false
		}
	}
	return true
}

// step copies records from a position on, and returns where the next step begins.
func (it *iteration) step(s *shard, at uint64) (next uint64) {
	it.Clear()
	s.mu.Lock()
	defer s.unlockAndNotify()
	return s.eachFrom(at, func(_ uint64, loc uint32) {
		r := s.tier.recordAt(s.tier.place(loc))
		if !s.tier.expired(&r) {
			key, value := s.keyValue(&r)
			s.work.bytes += len(key) + len(value)
			it.Add(key, value, 0)
		}
	})
}
