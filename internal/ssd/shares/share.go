package shares

import (
	"sync"
	"sync/atomic"
)

// Share is a namespace's part of the log. All methods are safe for concurrent use; a nil Share
// has no limit.
type Share struct {
	max  int64 // bytes
	used atomic.Int64

	mu    sync.Mutex // a leaf
	slots []int64    // bytes by slot of the log, or unknown
}

// unknown is what a share has of a segment that was written before the share was set.
const unknown = -1

// fullShare is the part of a share, as a divisor, that is kept free by dropping its oldest records.
const fullShare = 16

// Admits reports whether the share has room for so many bytes.
func (s *Share) Admits(bytes int) bool { return s == nil || s.used.Load()+int64(bytes) <= s.max }

// Full reports whether records have to go, so that others are admitted.
func (s *Share) Full() bool { return s != nil && s.used.Load() > s.max-s.max/fullShare }

// Add counts a record that was appended to the segment in a slot. It reports whether the share is
// full since.
func (s *Share) Add(slot, bytes int) (full bool) {
	if s == nil {
		return false
	}
	before := s.Full()
	s.change(slot, func(had int64) int64 { return max(had, 0) + int64(bytes) })
	return !before && s.Full()
}

// In is how many bytes of the segment in a slot are the share's, 0 where that is not known.
func (s *Share) In(slot int) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(s.slots[slot], 0)
}

// Bytes is how much the share has of the log, and may have, in bytes.
func (s *Share) Bytes() (used, most int64) {
	if s == nil {
		return 0, 0
	}
	return s.used.Load(), s.max
}

// change replaces the bytes of a slot.
func (s *Share) change(slot int, to func(had int64) int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	had := s.slots[slot]
	s.slots[slot] = to(had)
	s.used.Add(s.slots[slot] - max(had, 0))
}
