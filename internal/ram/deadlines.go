package ram

import (
	"sync/atomic"

	"github.com/firncache/firn/internal/offheap"
	"github.com/firncache/firn/internal/record"
)

// flagsOfTouched are the flags of a record whose deadline moves. A lower tier's copy that
// would outlive it is invalidated, so that no kill and no eviction brings the later
// deadline back.
func (s *shard) flagsOfTouched(r *stored, was, deadline int64) (flags uint32, invalidates bool) {
	flags = s.tier.header(r.off).version.Load() & recordFlags
	switch {
	case flags&lowerCopy == 0:
	case expiresSooner(deadline, was):
		return flags &^ (lowerCopy | olderCopy), s.tier.lower != nil
	default:
		flags |= olderCopy
		s.movedDeadlines++
	}
	return flags, false
}

// expiresSooner compares two deadlines, 0 for never.
func expiresSooner(a, b int64) bool { return a != 0 && (b == 0 || a < b) }

// movable reports whether the deadline can be moved in place: the record has one, and is
// not being demoted in parts, with the one that it had.
func (s *shard) movable(r *stored, deadline int64) bool {
	return r.shape.Expires() && deadline != 0 && s.demotions.at(r.off) == nil
}

// setDeadline moves a record's deadline in place, and sets its flags. Readers see from
// the version that it happens: it is odd meanwhile, as when the value is overwritten.
func (s *shard) setDeadline(r *stored, deadline int64, flags uint32) {
	t, h := s.tier, s.tier.header(r.off)
	s.noteDeadline(r.off, deadline)
	version := h.version.Load()
	offheap.StoreRelease32(&h.version, version+1)
	offheap.StoreFence()
	offheap.StoreRelease64(offheap.At[atomic.Uint64](t.region, r.off+r.shape.DeadlineOffset()), uint64(deadline))
	offheap.StoreRelease32(&h.version, (version+2)&^recordFlags|flags)
}

// keepDeadline gives a record on its way the deadline of the key's live one, or the last
// that is known of it.
func (s *shard) keepDeadline(r *newRecord) {
	t, deadline := s.tier, r.deadline
	if touched, ok := r.watch.Touched(); ok {
		deadline = touched
	}
	if _, _, old, ok := s.find(r.hash, r.key); ok && !t.expired(&old) {
		deadline = t.deadline(&old)
	}
	if deadline == r.deadline {
		return
	}
	r.deadline = deadline
	r.shape = record.ShapeOf(len(r.key), len(r.value), r.deadline != 0)
	r.size = t.roundUp(record.Size(len(r.key), len(r.value), r.deadline != 0))
}
