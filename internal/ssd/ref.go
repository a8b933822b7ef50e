package ssd

import (
	"errors"

	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/ssd/index"
)

// Errors that a read may end with, beside those of the disk and the context, and
// ErrTimeout and ErrBusy.
var (
	ErrNotFound = errors.New("ssd: not found")
	// ErrChanged says that the key was written while it was read: look in RAM, and
	// here again.
	ErrChanged = errors.New("ssd: changed meanwhile")
)

// Found is the result of a read.
type Found struct {
	Value    []byte // appended to dst, or a view, see the call
	Deadline int64  // milliseconds since 1970; 0: never
	Token    uint64 // for IsCurrent

	head format.Head // of a value that is to be read in parts; parts is 0 for others
}

// recordRef is a record that the index named, and how it is to be read.
type recordRef struct {
	id    format.ID
	entry format.Entry
	loc   format.Location
	slot  int
	off   int
	lsn   uint64
	stale bool // a value past its deadline will do, within Config.Grace
	waits bool // for a slow disk, as long as the context lets it
	touch bool // it counts as a read
	peek  bool // without the value
}

// locate finds a key's record. It counts as a read of it if touch is set.
func (t *Tier) locate(hash uint64, touch bool) (ref recordRef, ok bool) {
	if t.state.Load() != on {
		return ref, false
	}
	ref.id = t.ids.Of(hash)
	s := t.index.ShardOf(ref.id)
	s.Mu.Lock()
	defer s.Mu.Unlock()
	at, e, ok := s.Search(s.FingerprintOf(ref.id))
	if !ok {
		return ref, false
	}
	if touch && !e.Read() {
		s.Set(at, e|format.ReadBit)
	}
	ref.touch = touch
	t.resolve(s, &ref, e)
	return ref, true
}

// resolve makes ref that of an entry. The caller holds the shard's lock.
func (t *Tier) resolve(s *index.Shard, ref *recordRef, e format.Entry) {
	ref.entry, ref.loc = e, s.Location(e)
	ref.slot, ref.off = t.log.Place(ref.loc)
	ref.lsn = t.log.LSNAt(ref.loc)
}

// isCurrent reports whether the index still names the record.
func (t *Tier) isCurrent(ref *recordRef) bool {
	s := t.index.ShardOf(ref.id)
	s.Mu.Lock()
	defer s.Mu.Unlock()
	_, _, ok := t.entryOf(s, ref)
	return ok
}

// entryOf is the entry that still names the record, and its place in the shard's
// table. The caller holds the shard's lock.
func (t *Tier) entryOf(s *index.Shard, ref *recordRef) (at int, e format.Entry, ok bool) {
	at, e, ok = s.Search(s.FingerprintOf(ref.id))
	return at, e, ok && s.Location(e) == ref.loc && t.log.LSNAt(ref.loc) == ref.lsn
}

// expired reports whether a deadline has passed, or, if a stale value will do,
// passed so long ago that none does.
func (t *Tier) expired(deadline int64, stale bool) bool {
	if deadline == 0 {
		return false
	}
	if stale {
		deadline += t.grace.Load()
	}
	return deadline <= t.Now()
}

// alignedRange is the range of the file to read for n bytes of a record: whole
// blocks of the segment, of which the first skip bytes lie before it.
func (t *Tier) alignedRange(ref *recordRef, n int) (off int64, length, skip int) {
	align := t.logFile.Align()
	from := ref.off &^ (align - 1)
	to := min((ref.off+n+align-1)&^(align-1), t.log.SegmentBytes())
	return t.log.FileOffset(ref.slot, from), to - from, ref.off - from
}

// dropRef takes a record out of the index that cannot be read.
func (t *Tier) dropRef(ref *recordRef) {
	s := t.index.ShardOf(ref.id)
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if at, e, ok := t.entryOf(s, ref); ok {
		t.dropEntry(s, ref.id, at, e)
	}
}
