package ram

import "github.com/firncache/firn/internal/evicted"

// Evict takes the records of which pick reports true out, as if their room were needed,
// for tests: they are demoted, if demote says so and the lower tier accepts them, and
// evicted otherwise. The lower tier loses its copies of those. It reports how many they
// were. pick is called with no lock held.
func (t *Tier) Evict(pick func(key []byte) bool, demote bool) (n int) {
	var keys [][]byte
	t.All(func(key, _ []byte) bool {
		if pick(key) {
			keys = append(keys, append([]byte(nil), key...))
		}
		return true
	})
	for _, key := range keys {
		if t.shardOf(t.Hash(key)).forceOut(t.Hash(key), key, demote) {
			n++
		}
	}
	return n
}

// forceOut is Evict of one key.
func (s *shard) forceOut(hash uint64, key []byte, demote bool) bool {
	s.mu.Lock()
	b, slot, r, ok := s.find(hash, key)
	now := s.tier.clock.now()
	switch e := (&entry{hash, b, slot, r}); {
	case !ok:
	case demote:
		s.evictOrDemote(e, now, evicted.Capacity)
	default:
		s.noteAge(r.off, now)
		s.remove(hash, b, slot, &r, evicted.Capacity)
		s.count.Evicted++
		if s.tier.lower != nil {
			s.tier.lower.Invalidate(hash)
		}
	}
	s.countAges()
	s.unlockAndNotify()
	s.finishDemotionsPatiently()
	return ok
}
