package ram

import (
	"sync/atomic"

	"github.com/firncache/firn/internal/index"
	"github.com/firncache/firn/internal/offheap"
	"github.com/firncache/firn/internal/record"
)

// Peek is GetWithDeadline for a key with this hash that does not count as a hit or a
// miss, and moves no deadline.
func (t *Tier) Peek(hash uint64, dst, key []byte) (value []byte, deadline int64, ok bool) {
	v, deadline, out := t.getRetried(dst, key, hash, forValue)
	return v, deadline, out == hit
}

// PeekStale is Peek that also finds a record past its deadline, within its grace,
// and a negative entry. It returns the deadline too, 0 for never, and below 0 for a
// negative entry.
func (t *Tier) PeekStale(hash uint64, dst, key []byte) (value []byte, deadline int64, ok bool) {
	v, deadline, out := t.getRetried(dst, key, hash, forValue|forStale)
	return v, deadline, out == hit
}

// Deadline is when the record of a key with this hash expires, in milliseconds, 0 for
// never. It reports false if there is no live record. It does not count as a read. It
// takes the steps of Tier.get for a record of usual length that the key's first bucket
// names first, and leaves the rest to that.
func (t *Tier) Deadline(hash uint64, key []byte) (deadline int64, ok bool) {
	s := t.shardOf(hash)
	epoch := s.epoch.Load()
	b := offheap.At[index.Bucket](t.region, s.table.Offset(s.table.Home(hash, s.table.Shape())))
	m := b.Match(index.TagOf(hash))
	if m == 0 {
		return t.deadlineSlow(hash, key)
	}
	slot := m.Next()
	loc := b.Location(slot)
	off := t.place(loc)
	if off-1 >= t.ghostAt-1 { // 0, or beyond the segments
		return t.deadlineSlow(hash, key)
	}
	h := t.header(off)
	version, sh := h.version.Load(), record.Shape(h.shape.Load())
	from := uint64(sh.HeaderLen())
	if sh.Long() || sh.KeyLen() != len(key) || !t.whole(off, from+uint64(len(key))) || !t.region.Equal(off+from, key) {
		return t.deadlineSlow(hash, key)
	}
	if sh.Expires() {
		deadline = int64(offheap.At[atomic.Uint64](t.region, off+8).Load())
		if t.clock.expired(deadline) {
			return t.deadlineSlow(hash, key)
		}
	}
	if !s.unchanged(epoch, b, slot, loc, h, version) {
		return t.deadlineSlow(hash, key)
	}
	return deadline, true
}

// deadlineSlow is Deadline for all that is not found at once.
//
//go:noinline
func (t *Tier) deadlineSlow(hash uint64, key []byte) (deadline int64, ok bool) {
	_, deadline, out := t.getRetried(nil, key, hash, 0)
	return deadline, out == hit
}

// Passed reports whether a moment, in milliseconds, has come.
func (t *Tier) Passed(moment int64) bool { return t.passed.expired(moment) }

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

// Absent reports whether no live record of a key with this hash is here, and none below:
// below is called with the lock held under which everything moves, and must not call the
// tier. Two looks without the lock do not show that: between them, the record may
// have come up, and gone down again. The caller watches the key: until it is
// written, it stays absent.
func (t *Tier) Absent(hash uint64, key []byte, below func() bool) bool {
	s := t.shardOf(hash)
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, _, r, ok := s.find(hash, key); ok && !t.expired(&r) {
		return false
	}
	return below()
}
