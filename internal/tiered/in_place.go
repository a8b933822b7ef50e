package tiered

import "github.com/firncache/firn/internal/ram"

// The changes below are one hold of a lock, as those of ram.Tier of these names. They report
// false, and have done nothing, where an Attempt has to make them: always over a shared tier,
// with which they are not called.

// Add adds to the number of a key.
func (s *Store) Add(key []byte, a *ram.Addition) bool {
	return s.atOnce(key, func() bool { return s.ram.Add(s.ram.Hash(key), key, a) })
}

// Swap replaces the value old of a key by new.
func (s *Store) Swap(key, old, new []byte) bool {
	return s.atOnce(key, func() bool { return s.ram.Swap(s.ram.Hash(key), key, old, new) })
}

// SetIfAbsent stores a value for a key that has none.
func (s *Store) SetIfAbsent(key, value []byte, deadline int64) bool {
	return s.atOnce(key, func() bool { return s.ram.SetIfAbsent(s.ram.Hash(key), key, value, deadline) })
}

// atOnce is the write protocol of a change of a key that RAM makes, or leaves alone.
func (s *Store) atOnce(key []byte, change func() bool) (done bool) {
	var token any
	if h := s.hook.Load(); h != nil {
		token = (*h).BeforeWrite(key)
	}
	done = change()
	if h := s.hook.Load(); h != nil {
		(*h).AfterWrite(key, token)
	}
	s.keepAlive()
	return done
}
