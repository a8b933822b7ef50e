package ram

import (
	"sync/atomic"

	"github.com/firncache/firn/internal/index"
	"github.com/firncache/firn/internal/offheap"
	"github.com/firncache/firn/internal/policy"
	"github.com/firncache/firn/internal/record"
)

// Set stores the record of a key with this hash, replacing the key's older one. A
// deadline of 0 means never. One below 0 makes a negative entry, which has expired
// for all calls but PeekStale, and stays until the deadline's negation; OnEvict is
// not told of it.
func (t *Tier) Set(hash uint64, key, value []byte, deadline int64) error {
	s := t.shardOf(hash)
	t.region.Prefetch(s.table.Offset(s.table.Home(hash, s.table.Shape()))) // while the lock is taken
	s.mu.Lock()
	if deadline == 0 && t.onEvict == nil {
		if done, copied := s.overwritePlain(hash, key, value); done {
			ended := s.noteWrite(hash, key, nil, copied)
			s.mu.Unlock()
			ended.callWritten()
			return nil
		}
	}
	return t.setLocked(s, hash, key, value, deadline)
}

// setLocked is Set for records that are not overwritten in place. It is called
// with the shard locked, and unlocks it. It is a function of its own because of the
// stack that it needs: taking a lock waits for all that the fast path has stored there.
//
//go:noinline
func (t *Tier) setLocked(s *shard, hash uint64, key, value []byte, deadline int64) error {
	s.prefetchGhost(hash) // the key is absent, perhaps, and this is asked for its lane
	var ev Evicted
	r := t.newRecord(hash, key, value, deadline)
	err := t.store(s, &r, &ev)
	if ev.first != nil {
		ev.Notify()
	}
	return err
}

// SetQuietly is Set that adds the evicted records to ev, which the caller
// notifies later: it may be called under a lock.
func (t *Tier) SetQuietly(hash uint64, key, value []byte, deadline int64, ev *Evicted) error {
	r := t.newRecord(hash, key, value, deadline)
	s := t.shardOf(hash)
	s.mu.Lock()
	return t.store(s, &r, ev)
}

// overwritePlain is the fast path of set: it replaces the value of a record of
// usual length that never expires, in place and found in the first bucket. It
// reports false, and does nothing, in any other case. copied says that the lower tier
// may have a copy of the replaced value.
func (s *shard) overwritePlain(hash uint64, key, value []byte) (done, copied bool) {
	t := s.tier
	want := record.ShapeOf(len(key), len(value), false)
	from := uint64(want.HeaderLen())
	b := offheap.At[index.Bucket](t.region, s.table.Offset(s.table.Home(hash, s.table.Shape())))
	for m := b.Match(index.TagOf(hash)); m != 0; {
		off := t.place(b.Location(m.Next()))
		t.region.PrefetchRange(off, min(from+uint64(len(key)+len(value)), maxPrefetch))
		if record.Shape(t.header(off).shape.Load()) != want || want.Long() || !t.whole(off, from+uint64(len(key)+len(value))) {
			return false, false
		}
		if t.region.Equal(off+from, key) {
			copied = t.overwriteValue(off, from+uint64(len(key)), value, nil, 0)
			s.count.Sets++
			return true, copied
		}
	}
	return false, false
}

// overwriteValue replaces the value, and the deadline if there is a place for
// one, of the record at off. Readers see from the version that it happens: it is
// odd meanwhile. It returns lowerCopy of the old value; the new one has none.
func (t *Tier) overwriteValue(off, valueAt uint64, value []byte, deadlineAt *atomic.Uint64, deadline int64) (copied bool) {
	h := t.header(off)
	version := h.version.Load()
	offheap.StoreRelease32(&h.version, version+1)
	offheap.StoreFence()
	if deadlineAt != nil {
		deadlineAt.Store(uint64(deadline))
	}
	t.region.CopyIn(off+valueAt, value)
	offheap.StoreRelease32(&h.version, version&^lowerCopy+2)
	return version&lowerCopy != 0
}

// store tries until the shard has the segments that the record takes. It is
// called with the shard locked, and unlocks it.
func (t *Tier) store(s *shard, r *newRecord, ev *Evicted) error {
	if r.deadline != 0 {
		t.expectExpiry()
	}
	for {
		if s.closed || !t.fits(r) {
			s.endWrite(r, ev)
			return t.refusal()
		}
		if r.watch != nil && r.watch.Voided() {
			s.endWrite(r, ev)
			return ErrChanged
		}
		missing := s.set(r)
		if missing == 0 {
			break
		}
		s.unlock(ev)
		got, err := t.acquire(s, r, missing, ev)
		s.mu.Lock()
		s.addSpare(got)
		if err != nil {
			s.endWrite(r, ev)
			return err
		}
	}
	ended, owes := s.noteWrite(r.hash, r.key, r.watch, r.invalidates), s.owesDrainStep()
	s.endWrite(r, ev)
	ended.callWritten()
	if owes {
		t.reclaimAhead(s, ev)
	}
	return nil
}

// set stores a record if the shard has the segments for it, and otherwise
// tells how many are missing.
func (s *shard) set(r *newRecord) (missing int) {
	b, slot, old, found := s.find(r.hash, r.key)
	if r.invalidates = !found; r.invalidates && s.tier.lower != nil {
		s.tier.lower.Prefetch(r.hash) // for noteWrite
	}
	if found && s.overwrite(&old, r) {
		s.count.Sets++
		return 0
	}
	if !found {
		if missing = s.insert(r); missing == 0 {
			s.count.Sets++
		}
		return missing
	}
	q := s.laneOf(old.off)
	if missing = s.wants(q, r.size) - s.spare.n; missing > 0 {
		return missing
	}
	s.count.Sets++
	s.replace(b, slot, &old, q, r)
	return 0
}

// insert stores a record whose key is absent if the shard has the segments for
// it, and otherwise tells how many are missing.
func (s *shard) insert(r *newRecord) (missing int) {
	if !r.placed { // asked once, though it may have to start again
		r.lane, r.placed = s.laneOfNew(r.hash), true
	}
	need := s.wants(r.lane, r.size)
	if s.table.NeedsChunk() {
		need++
	}
	if missing = need - s.spare.n; missing > 0 {
		return missing
	}
	if s.table.NeedsChunk() {
		s.table.AddChunk(s.spare.pop(s.tier.segs))
	}
	s.table.Insert(r.hash, s.appendRecord(r.lane, r), 0)
	return 0
}

// overwrite replaces a value in place, if it has the shape of the old one and
// lies in one piece: no dead version stays behind. Readers see from the
// version that it happens.
func (s *shard) overwrite(old *stored, r *newRecord) bool {
	t := s.tier
	if old.shape != r.shape || old.shape.Long() || !t.whole(old.off, old.size) {
		return false
	}
	s.noteReplaced(old)
	var deadlineAt *atomic.Uint64
	if r.shape.Expires() {
		deadlineAt = offheap.At[atomic.Uint64](t.region, old.off+old.shape.DeadlineOffset())
		s.noteDeadline(old.off, r.deadline)
	}
	r.invalidates = t.overwriteValue(old.off, uint64(old.valueOffset()), r.value, deadlineAt, r.deadline)
	return true
}

// replace appends the new version of a record and lets the old one go.
func (s *shard) replace(b *index.Bucket, slot int, old *stored, q policy.Lane, r *newRecord) {
	s.noteReplaced(old)
	version := s.tier.header(old.off).version.Load()
	r.version, r.invalidates = version&wasRead, version&lowerCopy != 0 // with the entry's frequency
	b.SetLocation(slot, s.appendRecord(q, r))
	s.kill(old.off, old.size)
}
