package ram

// Deadline is when the key's record expires, in milliseconds, 0 for never. It
// reports false if there is no live record. It does not count as a read.
func (t *Tier) Deadline(key []byte) (deadline int64, ok bool) {
	return t.DeadlineHashed(t.hash(key), key)
}

// DeadlineHashed is Deadline for a key with this hash.
func (t *Tier) DeadlineHashed(hash uint64, key []byte) (deadline int64, ok bool) {
	s := t.shardOf(hash)
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _, r, ok := s.find(hash, key)
	if !ok || t.expired(&r) {
		return 0, false
	}
	return t.deadline(&r), true
}

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
