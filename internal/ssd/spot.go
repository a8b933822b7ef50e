package ssd

import (
	"errors"

	"github.com/firncache/firn/internal/ssd/format"
)

// What a read may end with, beside the errors of the disk and the context, and
// ErrTimeout and ErrBusy.
var (
	ErrNotFound = errors.New("ssd: not found")
	// ErrChanged says that the key was written while it was read: look above, and
	// here again.
	ErrChanged = errors.New("ssd: changed meanwhile")
)

// spot is where a record is to be read.
type spot struct {
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

// look finds the spot of a key's record. It counts as a read of it, if touch is
// set.
func (t *Tier) look(hash uint64, touch bool) (sp spot, ok bool) {
	if t.state.Load() != on {
		return sp, false
	}
	sp.id = t.ids.Of(hash)
	s := t.index.shardOf(sp.id)
	s.mu.Lock()
	defer s.mu.Unlock()
	at, e, ok := s.search(s.FingerprintOf(sp.id))
	if !ok {
		return sp, false
	}
	if touch && !e.Read() {
		s.slots[at] |= format.ReadBit
	}
	sp.touch = touch
	t.locate(s, &sp, e)
	return sp, true
}

// locate makes the spot that of an entry. The caller holds the shard's lock.
func (t *Tier) locate(s *shard, sp *spot, e format.Entry) {
	sp.entry, sp.loc = e, s.Location(e)
	sp.slot, sp.off = t.log.Place(sp.loc)
	sp.lsn = t.log.LSN(t.log.words[sp.slot].Serial.Load(), sp.off)
}

// still reports whether the index names the spot's record yet.
func (t *Tier) still(sp *spot) bool {
	s := t.index.shardOf(sp.id)
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.find(sp.id)
	return ok && s.Location(e) == sp.loc && t.log.lsnAt(s.Location(e)) == sp.lsn
}

// over reports whether a deadline has passed, or, if a stale value will do,
// passed so long ago that none does.
func (t *Tier) over(deadline int64, stale bool) bool {
	if deadline == 0 {
		return false
	}
	if stale {
		deadline += t.cfg.Grace
	}
	return deadline <= t.Now()
}

// window is what has to be read of the file for n bytes at a spot: whole blocks
// of the segment, of which the first skip bytes lie before it.
func (t *Tier) window(sp *spot, n int) (off int64, length, skip int) {
	align := t.logFile.Align()
	from := sp.off &^ (align - 1)
	to := min((sp.off+n+align-1)&^(align-1), t.log.SegmentBytes())
	return int64(sp.slot)<<t.log.SegmentShift + int64(from), to - from, sp.off - from
}

// lose takes a record out that cannot be had.
func (t *Tier) lose(sp *spot) {
	s := t.index.shardOf(sp.id)
	s.mu.Lock()
	defer s.mu.Unlock()
	if at, e, ok := s.search(s.FingerprintOf(sp.id)); ok && s.Location(e) == sp.loc && t.log.lsnAt(sp.loc) == sp.lsn {
		t.drop(s, sp.id, at, e)
	}
}

// Found is what a read found.
type Found struct {
	Value    []byte // appended to dst, or a view, see the call
	Deadline int64  // milliseconds since 1970; 0: never
	Token    uint64 // for Holds

	head format.Head // of a value that is to be read in parts; parts is 0 for others
}
