package ram

import (
	"encoding/binary"

	"github.com/firncache/firn/internal/evicted"
	"github.com/firncache/firn/internal/index"
	"github.com/firncache/firn/internal/offheap"
	"github.com/firncache/firn/internal/record"
	"github.com/firncache/firn/internal/watch"
)

// The changes below depend on what a key has, and are one hold of its shard's lock: nothing
// of the user's runs in it. They are for live records that keep their shape, and for keys that
// have none. What they leave alone a caller changes under a Watch.

// maxInPlace is the longest value that Add changes.
const maxInPlace = 32

// Add adds to the number of a key with this hash, keeps its deadline, and counts as a read. It
// reports false, and has done nothing, if there is no such number here, or no room for the sum.
func (t *Tier) Add(hash uint64, key []byte, a *Addition) bool {
	var value [maxInPlace]byte
	n := len(a.Head) + a.Size
	s := t.shardOf(hash)
	s.mu.Lock()
	r, ok := s.findInPlace(hash, key, n)
	if ok && n <= maxInPlace {
		t.region.AppendOut(value[:0], r.off+r.from, n)
		ok = a.apply(value[:n])
	}
	if !ok {
		s.mu.Unlock()
		return false
	}
	t.changeInPlace(s, hash, key, &r, value[:n])
	return true
}

// Swap replaces the value old of a key with this hash by new, which is as long. Other than that,
// it is as Add.
func (t *Tier) Swap(hash uint64, key, old, new []byte) bool {
	s := t.shardOf(hash)
	s.mu.Lock()
	r, ok := s.findInPlace(hash, key, len(old))
	if !ok || len(new) != len(old) || !t.region.Equal(r.off+r.from, old) {
		s.mu.Unlock()
		return false
	}
	t.changeInPlace(s, hash, key, &r, new)
	return true
}

// SetIfAbsent is Set of a key with this hash that has no record, here or below: not even one
// that has expired. It reports false, and has stored nothing, if it has, or may have, or if there
// is no room at once.
func (t *Tier) SetIfAbsent(hash uint64, key, value []byte, deadline int64) bool {
	if deadline != 0 {
		t.expectExpiry()
	}
	r := t.newRecord(hash, key, value, deadline)
	s := t.shardOf(hash)
	s.mu.Lock()
	_, _, _, found := s.find(hash, key)
	if found || s.closed || !t.fits(&r) || t.lower != nil && t.lower.Has(hash) || s.set(&r) > 0 {
		s.mu.Unlock()
		return false
	}
	var ev evicted.List
	t.finishStore(s, &r, &ev)
	ev.Notify()
	t.reads.count(false)
	t.observeMiss(hash)
	t.observeStore(hash, len(key), len(value), deadline)
	return true
}

// inPlace is a live record that can be overwritten.
type inPlace struct {
	bucket    *index.Bucket
	slot      int
	off, from uint64 // of the record, and in it of the value
	shape     record.Shape
	deadline  int64
}

// findInPlace finds the live record of a key, with a value of this length, if it can be
// overwritten and its deadline does not slide.
func (s *shard) findInPlace(hash uint64, key []byte, valueLen int) (r inPlace, ok bool) {
	t := s.tier
	if s.closed || t.slides.life != 0 {
		return r, false
	}
	b, slot, old, ok := s.find(hash, key)
	if !ok || old.valueLen != valueLen || !s.overwritable(old.off, old.shape, old.size) || t.expired(&old) {
		return r, false
	}
	from := uint64(old.shape.HeaderLen() + old.shape.KeyLen())
	return inPlace{b, slot, old.off, from, old.shape, t.deadline(&old)}, true
}

// changeInPlace overwrites the value of a record, as a Set of a key that was read. It is called
// with the shard locked, and unlocks it.
func (t *Tier) changeInPlace(s *shard, hash uint64, key []byte, r *inPlace, value []byte) {
	copied := s.overwrite(r.off, r.shape, value, r.deadline)
	r.bucket.Touch(r.slot, r.bucket.Word(r.slot))
	if s.notifies(copied) {
		t.finishInPlace(s, hash, key, len(value), r.deadline, copied)
		return
	}
	s.mu.Unlock()
	t.observeInPlace(hash, key, len(value), r.deadline)
}

// finishInPlace unlocks the shard after a write, and notifies of it.
//
//go:noinline
func (t *Tier) finishInPlace(s *shard, hash uint64, key []byte, valueLen int, deadline int64, copied bool) {
	var ev evicted.List
	ended := s.noteWrite(hash, key, nil, copied)
	s.unlock(&ev)
	t.observeInPlace(hash, key, valueLen, deadline) // before OnEvict, which may change the caller's key
	ended.CallWritten()
	ev.Notify()
}

func (t *Tier) observeInPlace(hash uint64, key []byte, valueLen int, deadline int64) {
	t.reads.count(true)
	t.observeHit(hash, key, valueLen, deadline)
	t.observeStore(hash, len(key), valueLen, deadline)
}

// tailLen is the length of what SetTail compares and replaces.
const tailLen = 16

// SetTail replaces the last 8 bytes of a watched key's value, a number in little-endian order, if
// the number before it is expect, and reports whether it has. It is no write: watches and OnEvict
// hear nothing, and the lower tier's copy stays as it is. A record that straddles, is long or is
// being demoted stays, too; so does one whose watch is void.
func (t *Tier) SetTail(w *watch.Watch, expect, tail uint64) bool {
	s := t.shardOf(w.Hash())
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || w.Voided() {
		return false
	}
	_, _, r, ok := s.find(w.Hash(), w.Key())
	end := uint64(r.valueOffset() + r.valueLen)
	if !ok || r.valueLen < tailLen || !s.overwritable(r.off, r.shape, end) {
		return false
	}
	var b [tailLen]byte
	binary.LittleEndian.PutUint64(b[:], expect)
	binary.LittleEndian.PutUint64(b[8:], tail)
	at := r.off + end - tailLen
	if !t.region.Equal(at, b[:8]) {
		return false
	}
	h := t.header(r.off)
	version := h.version.Load() // odd while the bytes change, as when the whole value does
	offheap.StoreRelease32(&h.version, version+1)
	offheap.StoreFence()
	t.region.CopyIn(at+8, b[8:])
	offheap.StoreRelease32(&h.version, (version+2)&^recordFlags|version&recordFlags)
	return true
}
