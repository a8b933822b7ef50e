package ram

// Absent reports whether no live record of a key with this hash is here, and none below:
// below is called with the lock held under which everything moves, and must not call the
// tier. Two looks without the lock do not show that: between them, the record may
// have come up, and gone down again. The caller watches the key: while nobody writes
// it, it stays absent.
func (t *Tier) Absent(hash uint64, key []byte, below func() bool) bool {
	s := t.shardOf(hash)
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, _, r, ok := s.find(hash, key); ok && !t.expired(&r) {
		return false
	}
	return below()
}
