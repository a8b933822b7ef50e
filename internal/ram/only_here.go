package ram

// OnlyHere counts the live records that the lower tier does not have, and the bytes of
// their keys and values. Records that come, go or change meanwhile may be counted or not.
func (t *Tier) OnlyHere() (records, bytes int64) {
	for i := range t.shards {
		s := &t.shards[i]
		for at, first := uint64(0), true; first || at != 0; first = false {
			var n, size int64
			at, n, size = s.onlyHereFrom(at)
			records, bytes = records+n, bytes+size
		}
	}
	return records, bytes
}

// onlyHereFrom is a step of OnlyHere from a position on, and returns where the next begins.
func (s *shard) onlyHereFrom(at uint64) (next uint64, records, bytes int64) {
	t := s.tier
	s.mu.Lock()
	defer s.unlockAndNotify()
	next = s.eachFrom(at, func(hash uint64, loc uint32) {
		r := t.recordAt(t.place(loc))
		if t.deadline(&r) < 0 || t.pastGrace(&r) || t.mayHaveLowerCopy(&r) && t.lower.Has(hash) {
			return
		}
		records++
		bytes += int64(r.shape.KeyLen() + r.valueLen)
	})
	return next, records, bytes
}
