package ram

import (
	"sync/atomic"

	"github.com/firncache/firn/internal/evicted"
	"github.com/firncache/firn/internal/index"
	"github.com/firncache/firn/internal/offheap"
	"github.com/firncache/firn/internal/policy"
	"github.com/firncache/firn/internal/record"
	"github.com/firncache/firn/internal/watch"
)

// Prefetch hashes a key and starts to load the first memory that a Set of it touches.
func (t *Tier) Prefetch(key []byte) (hash uint64) {
	hash = t.Hash(key)
	s := t.shardOf(hash)
	t.region.Prefetch(s.home(hash))
	return hash
}

// home is where the first bucket lies to search for a key with this hash.
func (s *shard) home(hash uint64) (off uint64) {
	return s.table.Offset(s.table.Home(hash, s.table.Shape()))
}

// Set stores the record of a key with this hash, replacing the key's older one. A
// deadline of 0 means never. One below 0 makes a negative entry, which has expired
// for all calls but PeekStale, and stays until the deadline's negation; OnEvict is
// not called for it. If Set fails it is a Delete.
func (t *Tier) Set(hash uint64, key, value []byte, deadline int64) error {
	s := t.shardOf(hash)
	if deadline != 0 {
		t.expectExpiry()
	}
	s.mu.Lock()
	done, copied := s.overwriteInPlace(hash, key, value, deadline)
	if done && !s.notifies(copied) {
		s.mu.Unlock()
		t.observeStore(hash, len(key), len(value), deadline)
		return nil
	}
	return t.setRest(s, done, copied, hash, key, value, deadline)
}

// notifies reports whether a write that is over has to notify a watch, OnEvict
// or the lower tier, which may have a copy of the replaced value if copied says so.
func (s *shard) notifies(copied bool) bool {
	return !s.watches.None() || s.evicted != nil || copied && s.tier.lower != nil
}

// setRest is the rest of a Set, of which overwriteInPlace has done something or nothing. It
// is called with the shard locked, and unlocks it. It is a function of its own because
// of the stack that it needs: taking a lock, or releasing it, waits for all that the fast
// path has stored there.
//
//go:noinline
func (t *Tier) setRest(s *shard, done, copied bool, hash uint64, key, value []byte, deadline int64) (err error) {
	var ev evicted.List
	if done {
		ended := s.noteWrite(hash, key, nil, copied)
		s.unlock(&ev)
		ended.CallWritten()
	} else {
		s.prefetchGhost(hash) // the key is absent, perhaps, and its lane depends on this
		r := t.newRecord(hash, key, value, deadline)
		if err = t.store(s, &r, &ev); err != nil {
			t.Drop(hash, key, evicted.Deleted, &ev)
		}
	}
	if !ev.Empty() {
		ev.Notify()
	}
	if err == nil {
		t.observeStore(hash, len(key), len(value), deadline)
	}
	return err
}

// overwriteInPlace is the fast path of Set: it overwrites the key's record, if that has
// the shape of the new one and is overwritable. It reports false, and does nothing, in
// any other case. copied says that the lower tier may have a copy of the replaced value.
func (s *shard) overwriteInPlace(hash uint64, key, value []byte, deadline int64) (done, copied bool) {
	t := s.tier
	want := record.ShapeOf(len(key), len(value), deadline != 0)
	from := uint64(want.HeaderLen())
	size := from + uint64(len(key)+len(value))
	for b := offheap.At[index.Bucket](t.region, s.home(hash)); b != nil; b = s.table.Next(b) {
		for m := b.Match(index.TagOf(hash)); m != 0; {
			off := t.place(b.Location(m.Next()))
			t.prefetchRecord(off, size, want.Expires())
			if record.Shape(t.header(off).shape.Load()) != want || !s.overwritable(off, want, size) {
				return false, false
			}
			if t.region.Equal(off+from, key) {
				return true, s.overwrite(off, want, value, deadline)
			}
		}
	}
	return false, false
}

// prefetchRecord starts to load a record of this size that is about to be overwritten,
// and if it expires, its segment's row, where noteDeadline stores. There may be no such
// segment.
func (t *Tier) prefetchRecord(off, size uint64, expires bool) {
	t.region.PrefetchRange(off, min(size, maxPrefetch))
	if expires {
		if id, _ := t.segmentAt(off); uint64(id) < uint64(len(t.segs)) {
			offheap.PrefetchValue(&t.segs[id])
		}
	}
}

// overwritable reports whether the record of this shape and size at off can be
// overwritten: it lies in one piece, is not so long that readers would have to begin
// again and again, and is not being demoted in parts.
func (s *shard) overwritable(off uint64, shape record.Shape, size uint64) bool {
	return !shape.Long() && s.tier.whole(off, size) && s.demotions.at(off) == nil
}

// overwrite replaces the value, and the deadline if it has one, of the record at off,
// which is overwritable and has the new record's shape: no dead version stays behind.
// Readers see from the version that it happens: it is odd meanwhile. It returns lowerCopy
// of the old record; the new one has none.
func (s *shard) overwrite(off uint64, shape record.Shape, value []byte, deadline int64) (copied bool) {
	t, h := s.tier, s.tier.header(off)
	if t.notifiesOfWrites() {
		old := t.recordAt(off)
		s.noteReplaced(&old)
	}
	if shape.Expires() {
		s.noteDeadline(off, deadline)
	}
	version := h.version.Load()
	offheap.StoreRelease32(&h.version, version+1)
	offheap.StoreFence()
	if shape.Expires() {
		offheap.StoreRelease64(offheap.At[atomic.Uint64](t.region, off+shape.DeadlineOffset()), uint64(deadline))
	}
	t.region.CopyIn(off+uint64(shape.HeaderLen()+shape.KeyLen()), value)
	offheap.StoreRelease32(&h.version, (version+2)&^recordFlags|version&(wasRead|counted))
	s.count.Replaced++
	return version&lowerCopy != 0
}

// store tries until the shard has the segments that the record takes. It is
// called with the shard locked, and unlocks it.
func (t *Tier) store(s *shard, r *newRecord, ev *evicted.List) error {
	for {
		if s.closed || !t.fits(r) {
			s.endWrite(r, ev)
			return t.refusal()
		}
		if r.watch != nil && r.watch.Voided() {
			s.endWrite(r, ev)
			return watch.ErrChanged
		}
		if r.keepsDeadline {
			s.keepDeadline(r)
		}
		missing := s.set(r)
		if missing == 0 {
			break
		}
		if err := s.refill(r, missing, ev); err != nil {
			s.endWrite(r, ev)
			return err
		}
	}
	t.finishStore(s, r, ev)
	return nil
}

// finishStore notifies of a record that was stored. It is called with the shard locked, and
// unlocks it.
func (t *Tier) finishStore(s *shard, r *newRecord, ev *evicted.List) {
	t.finishAppend(s, r, s.noteWrite(r.hash, r.key, r.watch, r.invalidates), ev)
}

// finishAppend ends a write that may have appended its record, and makes the room that others
// will need for that. It is called with the shard locked, and unlocks it.
func (t *Tier) finishAppend(s *shard, r *newRecord, ended *watch.Watch, ev *evicted.List) {
	owes := s.owesDrainSteps()
	s.endWrite(r, ev)
	ended.CallWritten()
	if owes > 0 {
		t.reclaimAhead(s, owes, ev)
	}
	if r.counts {
		t.holdQuota(s, r, ev)
	}
}

// set stores a record if the shard has the segments for it, and otherwise
// returns how many are missing.
func (s *shard) set(r *newRecord) (missing int) {
	b, slot, old, found := s.find(r.hash, r.key)
	if r.invalidates = !found; r.invalidates && s.tier.lower != nil {
		s.tier.lower.Prefetch(r.hash) // for noteWrite
	}
	if found && old.shape == r.shape && s.overwritable(old.off, old.shape, old.size) {
		r.invalidates = s.overwrite(old.off, r.shape, r.value, r.deadline)
		return 0
	}
	if !found {
		if missing = s.insert(r); missing == 0 {
			s.count.Inserted++
		}
		return missing
	}
	q := s.laneOf(old.off)
	if missing = s.wants(q, r.size) - s.spare.N; missing > 0 {
		return missing
	}
	s.count.Replaced++
	s.replace(b, slot, &old, q, r)
	return 0
}

// insert stores a record whose key is absent if the shard has the segments for
// it, and otherwise returns how many are missing.
func (s *shard) insert(r *newRecord) (missing int) {
	if !r.placed { // once, though the write may have to start again
		r.lane, r.placed = s.laneOfNew(r.hash, r.key), true
	}
	need := s.wants(r.lane, r.size)
	if s.table.NeedsChunk() {
		need++
	}
	if missing = need - s.spare.N; missing > 0 {
		return missing
	}
	if s.table.NeedsChunk() {
		s.table.AddChunk(s.spare.Pop(s.tier.segs))
	}
	s.table.Insert(r.hash, s.appendRecord(r.lane, r), 0)
	return 0
}

// replace appends the new version of a record and lets the old one go.
func (s *shard) replace(b *index.Bucket, slot int, old *stored, q policy.Lane, r *newRecord) {
	s.noteReplaced(old)
	version := s.tier.header(old.off).version.Load()
	r.version, r.invalidates = version&wasRead, version&lowerCopy != 0 // with the entry's frequency
	b.SetLocation(slot, s.appendRecord(q, r))
	s.kill(old.off, old.size)
}
