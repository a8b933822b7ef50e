package ram

import (
	"github.com/firncache/firn/internal/evicted"
	"github.com/firncache/firn/internal/record"
)

// Unmirrored is what a pass of Mirror leaves in this tier alone.
type Unmirrored struct{ Records, Bytes int64 }

// Mirror is a pass over the records: it offers copies to the lower tier of those that it lacks and
// that no write has changed since the pass before. left is what is in this tier alone thereafter:
// what has changed since, and what the lower tier refused. Negative and obsolete entries need no
// copy. lost counts records that went from the lower tier other than for a write here: while it
// stays, shards without changes are passed over. Mirror locks one shard at a time, for one step at
// a time, and calls more before each, with no lock held; it ends when that reports false, and then
// reports false itself. A record that is there from beginning to end is seen, wherever it moves.
func (t *Tier) Mirror(lost uint64, more func() bool) (left Unmirrored, all bool) {
	if t.lower == nil {
		return left, true
	}
	for i := range t.shards {
		in, ok := t.shards[i].mirror(lost, more)
		left.Records, left.Bytes = left.Records+in.Records, left.Bytes+in.Bytes
		if !ok {
			return left, false
		}
	}
	return left, true
}

// mirror is Mirror of a shard.
func (s *shard) mirror(lost uint64, more func() bool) (left Unmirrored, all bool) {
	var changes uint64
	var before aborted
	for at, first := uint64(0), true; first || at != 0; first = false {
		if !more() {
			return left, false
		}
		s.mu.Lock()
		if first {
			if s.isMirrored(lost) {
				s.mu.Unlock()
				return left, true
			}
			changes, before = s.changes(), s.aborted
		}
		at = s.mirrorFrom(at, &left)
		s.unlockAside()
	}
	var ev evicted.List
	s.finishDemotions(&ev, false)
	ev.NotifyAside()
	s.mu.Lock()
	left.Records += s.aborted.records - before.records
	left.Bytes += s.aborted.bytes - before.bytes
	s.mirrored = mirrored{left.Records == 0, changes, lost}
	s.mu.Unlock()
	return left, true
}

// mirrorFrom is a step of mirror from a position on, and returns where the next begins.
func (s *shard) mirrorFrom(at uint64, left *Unmirrored) (next uint64) {
	if s.closed || s.dead.Head != 0 {
		return 0
	}
	found, next := s.table.From(at)
	for _, p := range found {
		s.tier.lower.Prefetch(p.Hash())
	}
	for i, p := range found {
		if i > 0 && p.Position > found[i-1].Position && s.stepExceeded() {
			return p.Position
		}
		if r := s.tier.recordAt(s.tier.place(p.Location)); !s.mirrorRecord(p.Hash(), p.Location, &r) {
			left.Records++
			left.Bytes += int64(r.shape.KeyLen() + r.valueLen)
		}
	}
	return next
}

// mirrorRecord reports whether the lower tier has a live record, or is about to, or shall not.
func (s *shard) mirrorRecord(hash uint64, loc uint32, r *stored) bool {
	t, h := s.tier, s.tier.header(r.off)
	version := h.version.Load()
	copied := copyOf(version)
	switch {
	case t.deadline(r) < 0 || t.pastGrace(r) || s.isObsolete(r):
		return true
	case copied == record.SameCopy && t.lower.Has(hash):
		return true
	case version&unchanged == 0:
		h.version.Store(version | unchanged) // until it is written
		return false
	}
	freq := 0
	if b, slot, ok := s.table.Find(hash, loc); ok {
		freq = b.Freq(slot)
	}
	if s.demotesInParts(r) {
		return s.beginDemotion(hash, r, freq, true) != rejected
	}
	if copied == record.OlderCopy { // which might stay unnoticed
		t.lower.Invalidate(hash)
		version, copied = version&^(lowerCopy|olderCopy), record.NoCopy
	}
	h.version.Store(version | lowerCopy) // before there is one
	ok := s.demote(hash, r, freq, copied)
	if !ok && copied == record.NoCopy {
		h.version.Store(version)
	}
	return ok
}

// OnlyHere counts the live records that the lower tier does not have, and the bytes of
// their keys and values. Records that come, go or change meanwhile may be counted or not.
func (t *Tier) OnlyHere() (records, bytes int64) {
	for i := range t.shards {
		s := &t.shards[i]
		for at, first := uint64(0), true; first || at != 0; first = false {
			var n, size int64
			at, n, size = s.onlyHereFrom(at)
			records, bytes = records+n, bytes+size
		}
	}
	return records, bytes
}

// onlyHereFrom is a step of OnlyHere from a position on, and returns where the next begins.
func (s *shard) onlyHereFrom(at uint64) (next uint64, records, bytes int64) {
	t := s.tier
	s.mu.Lock()
	defer s.unlockAndNotify()
	next = s.eachFrom(at, func(hash uint64, loc uint32) {
		r := t.recordAt(t.place(loc))
		if t.deadline(&r) < 0 || t.pastGrace(&r) || t.mayHaveLowerCopy(&r) && t.lower.Has(hash) {
			return
		}
		records++
		bytes += int64(r.shape.KeyLen() + r.valueLen)
	})
	return next, records, bytes
}
