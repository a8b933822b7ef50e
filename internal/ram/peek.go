package ram

// Deadline is when the record of a key with this hash expires, in milliseconds, 0 for
// never. It reports false if there is no live record. It does not count as a read.
func (t *Tier) Deadline(hash uint64, key []byte) (deadline int64, ok bool) {
	s := t.shardOf(hash)
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _, r, ok := s.find(hash, key)
	if !ok || t.expired(&r) {
		return 0, false
	}
	return t.deadline(&r), true
}

// PeekStale is Peek that also finds a record past its deadline, within its grace,
// and a negative entry. It returns the deadline too, 0 for never, and below 0 for a
// negative entry.
func (t *Tier) PeekStale(hash uint64, dst, key []byte) (value []byte, deadline int64, ok bool) {
	s := t.shardOf(hash)
	s.mu.Lock()
	defer s.unlockAndNotify()
	b, slot, r, ok := s.find(hash, key)
	if !ok || t.pastGrace(&r) {
		return dst, 0, false
	}
	b.Touch(slot, b.Word(slot))
	return append(dst, s.value(&r)...), t.deadline(&r), true
}

// Passed reports whether a moment, in milliseconds, has come.
func (t *Tier) Passed(moment int64) bool { return t.clock.expired(moment) }

// Len is the number of records, of which some may have expired and not been
// taken out yet.
func (t *Tier) Len() (n int) {
	for i := range t.shards {
		s := &t.shards[i]
		s.mu.Lock()
		n += s.table.Len()
		s.mu.Unlock()
	}
	return n
}
