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
type iteration struct {
	bytes []byte
	list  []event
}

func (it *iteration) shard(s *shard, yield func(key, value []byte) bool) bool {
	s.mu.Lock()
	buckets := s.table.Buckets()
	s.mu.Unlock()
	for j := range buckets {
		it.copyBucket(s, j, buckets)
		rest := it.bytes
		for _, ev := range it.list {
			key, value := rest[:ev.key:ev.key], rest[ev.key:ev.key+ev.value:ev.key+ev.value]
			rest = rest[ev.key+ev.value:]
			if !yield(key, value) {
				return false
			}
		}
	}
	return true
}

func (it *iteration) copyBucket(s *shard, j, buckets uint32) {
	it.bytes, it.list = it.bytes[:0], it.list[:0]
	s.mu.Lock()
	defer s.unlockAndReport()
	for loc := range s.table.Under(j, buckets) {
		r := s.tier.stored(s.tier.place(loc))
		if s.tier.expired(&r) {
			continue
		}
		it.bytes = append(it.bytes, s.key(&r)...)
		it.bytes = append(it.bytes, s.value(&r)...)
		it.list = append(it.list, event{key: r.shape.KeyLen(), value: r.valueLen})
	}
}
