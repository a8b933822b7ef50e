package ram

import (
	"sync/atomic"
	"time"

	"github.com/firncache/firn/internal/offheap"
	"github.com/firncache/firn/internal/policy"
	"github.com/firncache/firn/internal/ram/segments"
	"github.com/firncache/firn/internal/record"
	"github.com/firncache/firn/internal/watch"
)

// header is a view of the fixed part of a record's header.
type header struct {
	version atomic.Uint32
	shape   atomic.Uint32
}

func (t *Tier) header(off uint64) *header { return offheap.At[header](t.region, off) }

// wasRead is set in the version of a record whose key was read: the entry's frequency
// is lowered when the record moves to another lane, or goes round in its own.
const wasRead = 1 << 31

// recordFlags are the bits of a version that are flags; the others count.
const recordFlags = wasRead | lowerCopy | olderCopy | unchanged | counted

// olderCopy is set beside lowerCopy if the lower tier's copy expires before the record:
// the deadline was moved since. A count of overwrites that runs into the flag sets it,
// which means nothing without lowerCopy.
const olderCopy = 1 << 29

// unchanged is set by a pass of Mirror on a record without a copy; overwriting clears it, and so
// does a count of overwrites that runs into it.
const unchanged = 1 << 28

// lowerCopy is set in the version of a record that the lower tier may have, too: it was
// promoted, or a copy was demoted. The first write of the key invalidates that copy,
// and stores a record without the flag; until another copy is demoted, writes have
// nothing to invalidate, and do not call the lower tier. A count of overwrites that
// runs into the flag sets it, and never clears it: overwriting does not count on from a
// version that has it.
const lowerCopy = 1 << 30

// counted is set in the version of a record whose bytes are in its quota's account. It is set
// when the record is stored, and lives as long.
const counted = 1 << 27

func (t *Tier) mayHaveLowerCopy(r *stored) bool { return t.header(r.off).version.Load()&lowerCopy != 0 }

// lowerCopy is what the lower tier may have of a record.
func (t *Tier) lowerCopy(r *stored) record.Copy { return copyOf(t.header(r.off).version.Load()) }

func copyOf(version uint32) record.Copy {
	switch version & (lowerCopy | olderCopy) {
	case lowerCopy:
		return record.SameCopy
	case lowerCopy | olderCopy:
		return record.OlderCopy
	}
	return record.NoCopy
}

// noteRead notes in a copy, which cannot be found yet, that its key was read.
func (t *Tier) noteRead(off uint64) {
	h := t.header(off)
	h.version.Store(h.version.Load() | wasRead)
}

// newRecord is a record on its way into the log.
type newRecord struct {
	hash        uint64
	key, value  []byte
	deadline    int64 // 0: never expires; below 0: a negative entry, until its negation
	shape       record.Shape
	size        uint64       // its room in the log
	version     uint32       // to begin with: flags
	invalidates bool         // the lower tier may have an older record of the key
	watch       *watch.Watch // it is stored only while this is not void; nil: always

	keepsDeadline bool // that of the key's record, if there is one by then

	lane   policy.Lane    // where the policy puts it, if its key is new
	placed bool           // whether the policy has chosen the lane
	claim  segments.Claim // its writer's, on segments

	counts bool // it is stored, and an account counts it

	promoted bool          // it is the lower tier's, too
	waited   time.Duration // by its writer for the lower tier
}

func (t *Tier) newRecord(hash uint64, key, value []byte, deadline int64) newRecord {
	return newRecord{
		hash: hash, key: key, value: value, deadline: deadline,
		shape: record.ShapeOf(len(key), len(value), deadline != 0),
		size:  t.roundUp(record.Size(len(key), len(value), deadline != 0)),
	}
}

// recordAt reads the header at off.
func (t *Tier) recordAt(off uint64) stored {
	r := stored{off: off, shape: record.Shape(t.header(off).shape.Load())}
	r.valueLen = r.shape.ShortValueLen()
	if r.shape.Long() {
		r.valueLen = int(offheap.At[atomic.Uint64](t.region, off+record.ValueLenOffset).Load())
	}
	r.size = t.roundUp(uint64(r.shape.HeaderLen() + r.shape.KeyLen() + r.valueLen))
	return r
}

// whole reports whether size bytes at off lie in one segment.
func (t *Tier) whole(off, size uint64) bool {
	return off&uint64(t.segSize()-1)+size <= uint64(t.segSize())
}

func (t *Tier) deadline(r *stored) int64 {
	if !r.shape.Expires() {
		return 0
	}
	return int64(offheap.At[atomic.Uint64](t.region, r.off+r.shape.DeadlineOffset()).Load())
}

// expired reports whether the record's deadline has passed.
func (t *Tier) expired(r *stored) bool {
	d := t.deadline(r)
	return d != 0 && t.clock.expired(d)
}

// pastGrace reports whether the record's deadline and its grace have passed, or a
// negative entry's time. Until then a record is evicted as a live one is.
func (t *Tier) pastGrace(r *stored) bool { return t.isPastGrace(t.deadline(r)) }

// isPastGrace is pastGrace for a record with this deadline.
func (t *Tier) isPastGrace(deadline int64) bool {
	u := t.graceDeadline(deadline)
	return u != 0 && t.clock.expired(u)
}

// graceDeadline is when a record with this deadline is past its grace, 0 for never.
func (t *Tier) graceDeadline(deadline int64) int64 {
	switch {
	case deadline > 0:
		return deadline + t.grace.Load()
	case deadline < 0:
		return -deadline
	}
	return 0
}

// key is a view of the record's key, or a copy in scratch if it straddles.
func (s *shard) key(r *stored) []byte { return s.part(r, r.keyOffset(), r.shape.KeyLen()) }

// value is a view of the record's value, or a copy in scratch if it straddles.
func (s *shard) value(r *stored) []byte { return s.part(r, r.valueOffset(), r.valueLen) }

// keyValue is a view of the record's key and value, or a copy of both in scratch
// if it straddles.
func (s *shard) keyValue(r *stored) (key, value []byte) {
	n := r.shape.KeyLen()
	both := s.part(r, r.keyOffset(), n+r.valueLen)
	return both[:n:n], both[n:]
}

// part is a view of n bytes of the record, or a copy in scratch: the next call
// overwrites it.
func (s *shard) part(r *stored, from, n int) []byte {
	if s.tier.whole(r.off, uint64(from+n)) {
		return s.tier.region.Bytes(r.off+uint64(from), n)
	}
	return s.gather(r.off, uint64(from), n)
}

// gather is Tier.gather into scratch.
func (s *shard) gather(off, from uint64, n int) []byte {
	if n > cap(s.scratch) {
		s.scratch = s.tier.scratch.take(n)
	}
	s.scratch = s.tier.gather(s.scratch[:0], off, from, n)
	s.work.bytes += n
	return s.scratch
}

// sameKey reports whether the key of the record at off is key.
func (s *shard) sameKey(off uint64, key []byte) bool {
	t, shape := s.tier, record.Shape(s.tier.header(off).shape.Load())
	if shape.KeyLen() != len(key) {
		return false
	}
	from := uint64(shape.HeaderLen())
	if t.whole(off, from+uint64(len(key))) {
		return t.region.Equal(off+from, key)
	}
	return t.equalPieces(off, from, key)
}

// write stores a record at off, where it cannot be found yet.
func (t *Tier) write(off uint64, r *newRecord) {
	h := t.header(off)
	offheap.StoreRelease32(&h.version, r.version)
	offheap.StoreRelease32(&h.shape, uint32(r.shape))
	at := uint64(8)
	if r.shape.Long() {
		offheap.StoreRelease64(offheap.At[atomic.Uint64](t.region, off+at), uint64(len(r.value)))
		at += 8
	}
	if r.shape.Expires() {
		offheap.StoreRelease64(offheap.At[atomic.Uint64](t.region, off+at), uint64(r.deadline))
		at += 8
	}
	if t.whole(off, r.size) {
		t.region.CopyIn(off+at, r.key)
		t.region.CopyIn(off+at+uint64(len(r.key)), r.value)
		return
	}
	t.writePieces(off, at, r.key)
	t.writePieces(off, at+uint64(len(r.key)), r.value)
}

// copyRecord copies a stored record to off, where room was made for it.
func (s *shard) copyRecord(off uint64, r *stored) {
	t := s.tier
	s.work.bytes += int(r.size)
	if t.whole(off, r.size) && t.whole(r.off, r.size) {
		t.region.CopyIn(off, t.region.Bytes(r.off, int(r.size)))
		return
	}
	t.writePieces(off, 0, s.gather(r.off, 0, int(r.size)))
}

// hashAll hashes the keys of the records at locs; it is the index's HashAll.
func (s *shard) hashAll(hashes []uint64, locs []uint32) {
	t := s.tier
	s.work.records += len(locs)
	for _, loc := range locs {
		t.region.Prefetch(t.place(loc))
	}
	for i, loc := range locs {
		r := t.recordAt(t.place(loc))
		hashes[i] = t.Hash(s.key(&r))
	}
}

// laneOf is the lane that a record was appended to.
func (s *shard) laneOf(off uint64) policy.Lane {
	id, _ := s.tier.segmentAt(off)
	return s.tier.segs[id].Lane
}

// gather appends n bytes of the record at off, beginning from bytes into it.
func (t *Tier) gather(dst []byte, off, from uint64, n int) []byte {
	for c := newCursor(t, off, from); n > 0; {
		at, length := c.next(n)
		dst = t.region.AppendOut(dst, at, length)
		n -= length
	}
	return dst
}

// writePieces stores src in the record at off, beginning from bytes into it.
func (t *Tier) writePieces(off, from uint64, src []byte) {
	for c := newCursor(t, off, from); len(src) > 0; {
		at, length := c.next(len(src))
		t.region.CopyIn(at, src[:length])
		src = src[length:]
	}
}

// equalPieces compares the record at off, beginning from bytes into it, with b.
func (t *Tier) equalPieces(off, from uint64, b []byte) bool {
	for c := newCursor(t, off, from); len(b) > 0; {
		at, length := c.next(len(b))
		if !t.region.Equal(at, b[:length]) {
			return false
		}
		b = b[length:]
	}
	return true
}
