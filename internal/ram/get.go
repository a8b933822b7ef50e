package ram

import (
	"math"
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

// ask is what a search returns, beside the deadline of the key's record.
type ask uint8

const (
	forValue ask = 1 << iota // a copy of the value, which raises the entry's frequency
	forStale                 // also a record within its grace, and a negative entry
	forTimes                 // counts as no read: the entry's frequency stays
)

// lockFreeTries is how often a reader starts again before it takes the lock.
const lockFreeTries = 8

// Get has two searches: getFast, in assembly on amd64, for a record of usual length in the
// key's first bucket, and Tier.get, for all records, under the lock if readers are
// overtaken too often. What getFast does not do itself it leaves to the other, before it
// has changed anything; so do Deadline and GetMulti, which look for usual records first.

// What getFast returns instead of a length. Of a hit that the policy wants to know of it
// returns the length with the sign bit set.
const (
	Absent  = -1 // there is no record; the miss is counted
	unusual = -2 // Tier.get has to search
)

// Get appends the value of key to dst; without one it returns dst unchanged.
func (t *Tier) Get(dst, key []byte) (value []byte, ok bool) {
	n := t.TryGet(dst, key)
	if n >= 0 {
		return dst[:len(dst)+n], true
	}
	return t.FinishGet(n, dst, key)
}

// TryGet is the fast part of Get, short enough to be inlined. It returns how many
// bytes it has appended behind dst; below 0, FinishGet does the rest, which is nothing if
// it is Absent.
func (t *Tier) TryGet(dst, key []byte) (n int) {
	n, _ = getFast(t, dst, offheap.String(key))
	return n
}

// FinishGet is the rest of Get after TryGet returned n, below 0.
func (t *Tier) FinishGet(n int, dst, key []byte) (value []byte, ok bool) {
	value, _, ok = t.getRest(n, 0, dst, offheap.String(key))
	return value, ok
}

// GetWithDeadline is Get that also returns when the record expires, 0 for never.
func (t *Tier) GetWithDeadline(dst, key []byte) (value []byte, deadline int64, ok bool) {
	n, deadline := getFast(t, dst, offheap.String(key))
	if n >= 0 {
		return dst[:len(dst)+n], deadline, true
	}
	return t.getRest(n, deadline, dst, offheap.String(key))
}

// getRest is what is left to do of a Get when getFast returned n, below 0, and deadline.
//
//go:noinline
func (t *Tier) getRest(n int, deadline int64, dst []byte, k string) (value []byte, at int64, ok bool) {
	switch n {
	case Absent:
		return dst, 0, false
	case unusual:
		return t.getSlow(dst, k)
	}
	n &= math.MaxInt
	t.observeHit(t.Hash(offheap.Bytes(k)), offheap.Bytes(k), n, deadline)
	return dst[:len(dst)+n], deadline, true
}

// observeHit reports a hit to the policy, the simulations and the probe, if they sample the key.
func (t *Tier) observeHit(hash uint64, key []byte, valueLen int, deadline int64) {
	if t.tuner.Sampled(hash) {
		t.observeSampled(hash, key, valueLen, deadline)
	}
}

// observeSampled is observeHit of a key that is sampled.
func (t *Tier) observeSampled(hash uint64, key []byte, valueLen int, deadline int64) {
	t.tuner.Hit(hash)
	t.probe.see(key)
	t.seeRead(key)
	if t.simulated(hash) {
		t.simulateHit(hash, len(key), valueLen, deadline)
	}
}

// getSlow is GetWithDeadline for all that getFast leaves to it, and the reference for
// that.
func (t *Tier) getSlow(dst []byte, k string) (value []byte, deadline int64, ok bool) {
	key := offheap.Bytes(k)
	hash := t.Hash(key)
	v, deadline, out := t.getRetried(dst, key, hash, forValue)
	if out == hit {
		t.observeHit(hash, key, len(v)-len(dst), deadline)
		t.reads.count(true)
		if t.slides.life != 0 {
			deadline = t.slide(hash, key, deadline)
		}
		return v, deadline, true
	}
	t.reads.count(false)
	t.observeMiss(hash)
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
// is right: see docs/internals/CONCURRENCY.md. getFast takes the same steps.
//
//  1. Load the shard's epoch and the index's shape.
//  2. Find the key's tag in the bucket and those it links to; load its location.
//  3. Load the record's version, then its shape, which has the lengths.
//  4. Compare the key, and the deadline with the time.
//  5. With forValue: check that the epoch is unchanged, so that the length can
//     be believed, and copy it to the caller's slice.
//  6. Pass a load fence.
//  7. Check that the version is even, and version, location and epoch are unchanged.
//     Otherwise the copy means nothing, and the search begins again.
//  8. Raise the entry's frequency, with forValue. The caller counts the hit.
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
				if asked&(forValue|forTimes) == forValue {
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
				if !s.unchanged(epoch, b, slot, loc, h, version) { // it may have been set again meanwhile
					return dst, 0, torn
				}
				return dst, 0, miss
			}
			v := dst
			if asked&forValue != 0 {
				if s.reused(epoch) { // the length means nothing
					return dst, 0, torn
				}
				v = t.region.AppendOut(dst, off+from, n) // 5
			}
			if !s.unchanged(epoch, b, slot, loc, h, version) { // 6, 7
				return dst, 0, torn
			}
			if asked&(forValue|forTimes) == forValue {
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

// hides reports whether a search must skip a record with this deadline.
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
	if s.reused(epoch) {
		return nil // the search ends as torn
	}
	return next
}

// reused reports whether the shard's memory may have been reused since the epoch was
// noted. If not, the lengths in a record's header are those of a record: in its place it
// keeps them.
func (s *shard) reused(epoch uint64) bool {
	offheap.LoadFence()
	return s.epoch.Load() != epoch
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
	if s.reused(epoch) || uint64(r.valueLen) > t.region.Size() {
		return dst, 0, torn
	}
	return t.gather(slices.Grow(dst, r.valueLen), off, uint64(r.valueOffset()), r.valueLen), deadline, hit
}
