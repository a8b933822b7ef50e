package ram

import (
	"slices"
	"sync/atomic"

	"github.com/firncache/firn/internal/index"
	"github.com/firncache/firn/internal/invariants"
	"github.com/firncache/firn/internal/offheap"
	"github.com/firncache/firn/internal/record"
)

// outcome is how a lock-free search ended.
type outcome uint8

const (
	miss outcome = iota
	hit
	torn // something moved meanwhile: the result means nothing
)

// ask is what a search asks for, beside the deadline of the key's record.
type ask uint8

const (
	forValue ask = 1 << iota // a copy of the value, which raises the entry's frequency
	forStale                 // also a record within its grace, and a negative entry
)

// lockFreeTries is how often a reader starts again before it takes the lock.
const lockFreeTries = 8

// There are three searches, from the fastest to the most general:
//
//   - getShort, in assembly, on amd64: a short key and value, in the key's first bucket.
//   - GetWithDeadline, in Go: any record of usual length in the first bucket. It is Get
//     on other processors, too.
//   - Tier.get: all records, under the lock if readers are overtaken too often.
//
// Each leaves to the next whatever it does not do itself, before it has changed
// anything.

// getAny appends the value of key to dst; without one it returns dst unchanged.
// It is Get, and where there is a faster one the slow path of that, and the
// reference for it.
func getAny(t *Tier, dst []byte, k string) (value []byte, ok bool) {
	key := offheap.Bytes(k)
	value, _, ok = t.GetWithDeadline(t.Hash(key), dst, key)
	return value, ok
}

// GetWithDeadline is Get for a key with this hash that also tells when the record
// expires, 0 for never. It is a search in stages, each of which calls the next last, when
// nothing has to be kept: values that a compiler keeps on the stack cost as much as the
// rest while the processor waits for memory.
func (t *Tier) GetWithDeadline(hash uint64, dst, key []byte) (value []byte, deadline int64, ok bool) {
	s := t.shardOf(hash)
	epoch, shape := s.epoch.Load(), s.table.Shape()
	b := offheap.At[index.Bucket](t.region, s.table.Offset(s.table.Home(hash, shape)))
	m := b.Match(index.TagOf(hash))
	if m == 0 {
		return s.absent(dst, offheap.String(key), epoch, shape, b)
	}
	if t.tuner.Sampled(hash) {
		return t.getSlow(dst, offheap.String(key))
	}
	return s.present(dst, offheap.String(key), epoch, b, m.Next())
}

// absent is the end of getStaged if the first bucket has no match.
//
//go:noinline
func (s *shard) absent(dst []byte, key string, epoch, shape uint64, b *index.Bucket) (value []byte, deadline int64, ok bool) {
	offheap.LoadFence()
	if b.Linked() || s.epoch.Load() != epoch || s.table.Shape() != shape {
		return s.tier.getSlow(dst, key)
	}
	s.tier.reads.count(false)
	return dst, 0, false
}

// present is the end of getStaged if the first bucket has a match: it reads the
// record there.
//
//go:noinline
func (s *shard) present(dst []byte, key string, epoch uint64, b *index.Bucket, slot int) (value []byte, deadline int64, ok bool) {
	t := s.tier
	word, loc := b.Word(slot), b.Location(slot)
	off := t.place(loc)
	if off-1 >= t.ghostAt-1 { // 0, or beyond the segments
		return t.getSlow(dst, key)
	}
	h := t.header(off)
	version, sh := h.version.Load(), record.Shape(h.shape.Load())
	from, n := off+uint64(sh.HeaderLen()), sh.ShortValueLen()
	if sh.Long() || sh.KeyLen() != len(key) || !t.whole(off, from-off+uint64(len(key)+n)) || !t.region.Equal(from, offheap.Bytes(key)) {
		return t.getSlow(dst, key)
	}
	if sh.Expires() {
		deadline = int64(offheap.At[atomic.Uint64](t.region, off+8).Load())
		if t.clock.expired(deadline) {
			return t.getSlow(dst, key)
		}
	}
	value = t.region.AppendOut(dst, from+uint64(len(key)), n)
	if !s.unchanged(epoch, b, slot, loc, h, version) {
		return t.getSlow(dst, key)
	}
	b.Touch(slot, word)
	t.reads.count(true)
	return value, deadline, true
}

// countHit counts a hit, for the policy and the statistics.
func (t *Tier) countHit(hash uint64) {
	if t.tuner.Sampled(hash) {
		t.tuner.Hit(hash)
	}
	t.reads.count(true)
}

// getSlow is Get for all that the staged search leaves to it.
//
//go:noinline
func (t *Tier) getSlow(dst []byte, k string) (value []byte, deadline int64, ok bool) {
	key := offheap.Bytes(k)
	hash := t.Hash(key)
	v, deadline, out := t.getRetried(dst, key, hash, forValue)
	if out == hit {
		t.countHit(hash)
		return v, deadline, true
	}
	t.reads.count(false)
	return v, 0, false
}

// getRetried searches until nothing disturbs it, in the end under the lock.
func (t *Tier) getRetried(dst, key []byte, hash uint64, asked ask) (value []byte, deadline int64, out outcome) {
	s := t.shardOf(hash)
	for range lockFreeTries {
		if v, deadline, out := t.get(s, dst, key, hash, asked); out != torn {
			return v, deadline, out
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	v, deadline, out := t.get(s, dst, key, hash, asked)
	if out == torn {
		panic("ram: a record changed under its shard's lock")
	}
	return v, deadline, out
}

// get searches without a lock, in eight steps. Their order is the argument that it
// is right: see docs/CONCURRENCY.md. GetWithDeadline and getShort take the same
// steps for records that are found at once.
//
//  1. Load the shard's epoch and the index's shape.
//  2. Find the key's tag in the bucket and those it links to; load its location.
//  3. Load the record's version, then its shape, which has the lengths.
//  4. Compare the key, and the deadline with the time.
//  5. Copy the value to the caller's slice, if it is asked for.
//  6. Pass a load fence.
//  7. Check that the version is even, and version, location and epoch are unchanged.
//     Otherwise the copy means nothing, and the search begins again.
//  8. Raise the entry's frequency, if the value was asked for. The caller counts the hit.
func (t *Tier) get(s *shard, dst, key []byte, hash uint64, asked ask) (value []byte, deadline int64, out outcome) {
	epoch, shape := s.epoch.Load(), s.table.Shape() // 1
	tag := index.TagOf(hash)
	for b := s.table.Bucket(index.Home(hash, shape)); b != nil; b = s.nextBucket(b, epoch) {
		for m := b.Match(tag); m != 0; { // 2
			slot := m.Next()
			word, loc := b.Word(slot), b.Location(slot)
			off := t.place(loc)
			if loc == 0 {
				continue
			}
			if off >= t.ghostAt { // a bucket whose memory was reused
				return dst, 0, torn
			}
			h := t.header(off)
			version, sh := h.version.Load(), record.Shape(h.shape.Load()) // 3
			if sh.KeyLen() != len(key) {
				continue
			}
			from, n := uint64(sh.HeaderLen()+len(key)), sh.ShortValueLen()
			if sh.Long() || !t.whole(off, from+uint64(n)) {
				v, deadline, out := t.getStraddling(s, dst, key, off, epoch, asked)
				if out == miss && s.unchanged(epoch, b, slot, loc, h, version) {
					continue
				}
				if out != hit || !s.unchanged(epoch, b, slot, loc, h, version) {
					return dst, 0, torn
				}
				if asked&forValue != 0 {
					b.Touch(slot, word)
				}
				return v, deadline, out
			}
			if !t.region.Equal(off+uint64(sh.HeaderLen()), key) { // 4
				continue
			}
			deadline = 0
			if sh.Expires() {
				deadline = int64(offheap.At[atomic.Uint64](t.region, off+8).Load())
			}
			if deadline != 0 && t.hides(deadline, asked) {
				if !s.unchanged(epoch, b, slot, loc, h, version) { // it may have been set anew meanwhile
					return dst, 0, torn
				}
				return dst, 0, miss
			}
			v := dst
			if asked&forValue != 0 {
				v = t.region.AppendOut(dst, off+from, n) // 5
			}
			if !s.unchanged(epoch, b, slot, loc, h, version) { // 6, 7
				return dst, 0, torn
			}
			if asked&forValue != 0 {
				b.Touch(slot, word) // 8
			}
			return v, deadline, hit
		}
	}
	offheap.LoadFence() // 6
	if s.epoch.Load() != epoch || s.table.Shape() != shape {
		return dst, 0, torn // 7: an entry may have moved past the search
	}
	return dst, 0, miss
}

// hides reports whether a record with this deadline is none for the one who asks.
func (t *Tier) hides(deadline int64, asked ask) bool {
	if asked&forStale != 0 {
		return t.isPastGrace(deadline)
	}
	return t.clock.expired(deadline)
}

// nextBucket follows a link, but none that was read from reused memory: that
// could lead in circles.
func (s *shard) nextBucket(b *index.Bucket, epoch uint64) *index.Bucket {
	next := s.table.Next(b)
	if next == nil {
		return nil
	}
	offheap.LoadFence()
	if s.epoch.Load() != epoch {
		return nil // the search ends as torn
	}
	return next
}

// unchanged reports whether everything read since the epoch, version and
// location were noted is the key's record: none of the shard's memory was reused, the
// value was not being overwritten, and the index still names the record.
func (s *shard) unchanged(epoch uint64, b *index.Bucket, slot int, loc uint32, h *header, version uint32) bool {
	offheap.LoadFence()
	if invariants.SkipValidation {
		return true
	}
	return version&1 == 0 && h.version.Load() == version && b.Location(slot) == loc && s.epoch.Load() == epoch
}

// getStraddling is get's slow path for a record that lies in several segments,
// or is long. The caller checks afterwards whether it stayed unchanged.
func (t *Tier) getStraddling(s *shard, dst, key []byte, off, epoch uint64, asked ask) (value []byte, deadline int64, out outcome) {
	r := t.recordAt(off)
	if !t.equalPieces(off, uint64(r.keyOffset()), key) {
		return dst, 0, miss
	}
	if deadline = t.deadline(&r); deadline != 0 && t.hides(deadline, asked) {
		return dst, 0, miss
	}
	if asked&forValue == 0 {
		return dst, deadline, hit
	}
	// The length is believed only if it was not read from reused memory.
	offheap.LoadFence()
	if s.epoch.Load() != epoch || uint64(r.valueLen) > t.region.Size() {
		return dst, 0, torn
	}
	return t.gather(slices.Grow(dst, r.valueLen), off, uint64(r.valueOffset()), r.valueLen), deadline, hit
}
