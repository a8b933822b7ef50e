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

// PeekStale is Peek that also finds a record past its deadline, within its grace,
// and a negative entry. It returns the deadline too, 0 for never, and below 0 for a
// negative entry.
func (t *Tier) PeekStale(dst, key []byte) (value []byte, deadline int64, ok bool) {
	return t.PeekStaleHashed(t.hash(key), dst, key)
}

// PeekStaleHashed is PeekStale for a key with this hash.
func (t *Tier) PeekStaleHashed(hash uint64, dst, key []byte) (value []byte, deadline int64, ok bool) {
	s := t.shardOf(hash)
	s.mu.Lock()
	defer s.unlockAndReport()
	b, slot, r, ok := s.find(hash, key)
	if !ok || t.pastGrace(&r) {
		return dst, 0, false
	}
	b.Touch(slot, b.Word(slot))
	return append(dst, s.value(&r)...), t.deadline(&r), true
}

// Passed reports whether a moment, in milliseconds, has come.
func (t *Tier) Passed(moment int64) bool { return t.clock.expired(moment) }

// Inspect calls f while the shard of hash is locked, with whether the key has a
// live record here. Nothing under the hash is written, demoted or promoted
// meanwhile, so f can tell for sure that a key is in neither tier: a reader that
// misses here and then there may have missed a record on its way between them.
// f must not call the tier, nor block on a disk.
func (t *Tier) Inspect(hash uint64, key []byte, f func(live bool)) {
	s := t.shardOf(hash)
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _, r, ok := s.find(hash, key)
	f(ok && !t.expired(&r))
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
