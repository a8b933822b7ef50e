package ram

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

// iteration holds copies of the records under one bucket.
type iteration struct{ recordCopies }

func (it *iteration) shard(s *shard, yield func(key, value []byte) bool) bool {
	s.mu.Lock()
	buckets := s.table.Buckets()
	s.mu.Unlock()
	for j := range buckets {
		it.copyBucket(s, j, buckets)
		if !it.each(func(key, value []byte, _ Cause) bool { return yield(key, value) }) {
			return false
		}
	}
	return true
}

func (it *iteration) copyBucket(s *shard, j, buckets uint32) {
	it.clear()
	s.mu.Lock()
	defer s.unlockAndNotify()
	for loc := range s.table.Under(j, buckets) {
		r := s.tier.recordAt(s.tier.place(loc))
		if s.tier.expired(&r) {
			continue
		}
		key, value := s.keyValue(&r)
		it.add(key, value, 0)
	}
}
