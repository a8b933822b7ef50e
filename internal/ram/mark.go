package ram

import "errors"

// ErrChanged says that a key was written since it was marked.
var ErrChanged = errors.New("ram: changed since")

// Mark is what a key's record was at a moment, for a write that is to happen
// only if nobody has written the key since.
type Mark struct {
	found    bool
	location uint32
	version  uint32
	deadline int64
}

// MarkHashed marks the key with this hash.
func (t *Tier) MarkHashed(hash uint64, key []byte) (m Mark) {
	s := t.shardOf(hash)
	s.mu.Lock()
	defer s.mu.Unlock()
	if b, slot, r, ok := s.find(hash, key); ok {
		m = Mark{true, b.Location(slot), t.header(r.off).version.Load(), t.deadline(&r)}
	}
	return m
}

// unwritten reports whether nobody has written the key since it was marked: no
// Set, and no Delete of a record that was live. That is certain as long as its
// record has stayed in its place; one that was moved to make room counts as
// written, and so does a live one that was evicted.
func (s *shard) unwritten(m *Mark, hash uint64, key []byte) bool {
	b, slot, r, ok := s.find(hash, key)
	if !ok {
		return !m.found || m.deadline != 0 && s.tier.clock.expired(m.deadline)
	}
	return m.found && b.Location(slot) == m.location && s.tier.header(r.off).version.Load() == m.version
}

// SetUnwritten is SetHashed that fails with ErrChanged if the key was written
// since it was marked, and that leaves it to the caller to report what left.
func (t *Tier) SetUnwritten(m *Mark, hash uint64, key, value []byte, deadline int64, left *Left) error {
	r := t.newRecord(hash, key, value, deadline)
	r.unless = m
	s := t.shardOf(hash)
	s.mu.Lock()
	return t.store(s, &r, left)
}

// DeleteUnwritten is DeleteHashed that fails with ErrChanged if the key was
// written since it was marked, and that leaves it to the caller to report what
// left.
func (t *Tier) DeleteUnwritten(m *Mark, hash uint64, key []byte, left *Left) error {
	s := t.shardOf(hash)
	s.mu.Lock()
	defer s.unlock(left)
	switch {
	case s.closed:
		return ErrClosed
	case !s.unwritten(m, hash, key):
		return ErrChanged
	}
	s.delete(hash, key)
	return nil
}
