package ssd

import (
	"slices"

	"github.com/firncache/firn/internal/aio"
	"github.com/firncache/firn/internal/ssd/files"
	"github.com/firncache/firn/internal/ssd/format"
)

// victim is a segment to be reclaimed.
type victim struct {
	slot   int
	serial uint64
	share  float64 // the part of its records' weight that is alive
	how    disposal
}

// disposal is what becomes of the records of a segment that are alive.
type disposal uint8

const (
	moveAll  disposal = iota // to the end of the log
	moveRead                 // likewise, if they were read since they were written; the others go
	dropAll                  // they have expired, or there are none
)

// mostCleaned is how much of a segment may be alive for it to be cleaned. At this
// share, four bytes are written for each that is gained; the log as a whole holds
// more than that by then, for updates of uniformly chosen keys seven eighths.
const mostCleaned = 0.75

// victim is the segment to reclaim next, of those whose list is on the device: one
// that is dead or has expired, which costs nothing; or the one with the least that is
// alive, while so much of it is dead that moving the rest pays; or else the oldest, and
// records have to go. With evict they have to go before any is moved.
func (l *log) victim(evict bool) (v victim, ok bool) {
	now := uint64(max(l.now(), 0))
	l.mu.Lock()
	defer l.mu.Unlock()
	var oldest, deadest victim
	for i := range l.slots {
		w := &l.words[i]
		v := victim{slot: i, serial: w.Serial.Load()}
		if v.serial == 0 || !l.slots[i].sealed {
			continue
		}
		if v.share = float64(l.slots[i].alive.Load()) / float64(max(w.Written.Load(), 1)); v.share == 0 || w.Until.Load() < now {
			v.how = dropAll
			return v, true
		}
		if oldest.serial == 0 || v.serial < oldest.serial {
			oldest = v
		}
		if deadest.serial == 0 || v.share < deadest.share {
			deadest = v
		}
	}
	if deadest.serial != 0 && deadest.share <= mostCleaned && !evict {
		return deadest, true
	}
	oldest.how = moveRead
	return oldest, oldest.serial != 0
}

// reclaim frees the slot of a segment, if there is need to. It reports whether it
// did.
func (t *Tier) reclaim() bool {
	if t.state.Load() != on {
		return false
	}
	crowded := t.index.full()
	if t.log.freeSlots() >= t.log.ahead && !crowded {
		return false
	}
	v, ok := t.log.victim(crowded || !t.admission.mayMove())
	if !ok {
		return false
	}
	if crowded {
		t.tellCrowded()
	}
	t.admission.choosing.Store(v.how == moveRead)
	if v.share > 0 && !t.empty(&v) {
		return false
	}
	if t.log.slots[v.slot].alive.Load() != 0 { // its list was not all
		t.forget(v.slot)
	}
	t.log.release(v.slot)
	t.count.reclaimed.Add(1)
	return true
}

// tellCrowded tells once that it is the index that has no room.
func (t *Tier) tellCrowded() {
	t.crowded.Do(func() {
		t.lines.warn("firn: SSD tier: its index has all the memory that it may take, and records leave before the log is full; more RAMBytes would help",
			"records", t.records(), "index_bytes", t.index.limit.Load(), "free_segments", t.log.freeSlots(), "segments", len(t.log.slots))
	})
}

// noteRoom ends the choosing when there is room for all again: some segment may be
// cleaned, and the index has memory.
func (t *Tier) noteRoom() {
	if !t.admission.choosing.Load() || t.index.tight() {
		return
	}
	if v, ok := t.log.victim(false); ok && v.how != moveRead {
		t.admission.choosing.Store(false)
	}
}

// empty takes all records of a segment out of the index, or moves them to the end
// of the log. It reports false if the disk takes nothing meanwhile.
func (t *Tier) empty(v *victim) bool {
	recs, err := t.list(v.slot, v.serial)
	if err != nil { // also of the last segments before a kill, which have none
		t.health.log("a segment's list could not be read", "segment", v.serial, "error", err)
		t.count.readErrors.Add(1)
		t.forget(v.slot)
		return true
	}
	budget := t.log.SegmentBytes()
	switch v.how {
	case moveRead:
		budget /= 2
	case dropAll:
		budget = 0
	}
	if !t.admission.mayMove() { // the day's writes are spent
		budget = 0
	}
	for len(recs) > 0 {
		n := t.someOf(recs)
		kept, bytes := t.sort(v, recs[:n], budget)
		if !t.moveSome(v, kept) {
			return false
		}
		budget -= bytes
		recs = recs[n:]
	}
	return true
}

// moveAtOnce is how many records of a segment are looked at, and read, at once.
const moveAtOnce = 64

// someOf is how many of the records are to be looked at next: no more than may be
// read at once.
func (t *Tier) someOf(recs []format.Listed) (n int) {
	for room := t.cfg.readMemory(); n < min(len(recs), moveAtOnce); n++ {
		if room -= int64(recs[n].Bytes); room < 0 && n > 0 {
			break
		}
	}
	return n
}

// sort returns those of a segment's records that go to the end of the log, and how
// many bytes they have, which are at most budget; what else is alive it takes out of
// the index.
func (t *Tier) sort(v *victim, recs []format.Listed, budget int) (kept []format.Listed, bytes int) {
	for i := range recs {
		r := &recs[i]
		t.index.prefetch(recs[min(i+prefetchAhead, len(recs)-1)].ID)
		s := t.index.shardOf(r.ID)
		s.mu.Lock()
		if at, e, ok := t.entryOf(s, v, *r); ok {
			if (v.how == moveAll || e.Read()) && bytes+int(r.Bytes) <= budget {
				kept = append(kept, *r)
				bytes += int(r.Bytes)
			} else {
				t.evictEntry(s, r, at, e)
			}
		}
		s.mu.Unlock()
	}
	return kept, bytes
}

// evictEntry takes a listed record out, whose entry is at a place of the shard's table,
// and with a part its value. The caller holds mu.
func (t *Tier) evictEntry(s *shard, l *format.Listed, at int, e format.Entry) {
	t.drop(s, l.ID, at, e)
	if l.Kind != format.IsPart || t.dropOwner(s, l.ID) {
		t.count.evicted.Add(1)
	}
}

// named counts what an entry names as alive, which the index has from now on. What was
// appended is counted already.
func (t *Tier) named(e format.Entry) {
	slot, _ := t.log.Place(t.index.Location(e))
	t.log.slots[slot].alive.Add(int64(t.log.weight(e.Class())))
	t.appended(e)
}

// appended is named for an entry of what was just appended: the log has counted it.
func (t *Tier) appended(e format.Entry) {
	if e.Class() == format.PartClass {
		t.parts.Add(1)
	}
}

// unnamed counts what an entry names as dead: the index has it no more.
func (t *Tier) unnamed(e format.Entry) {
	slot, _ := t.log.Place(t.index.Location(e))
	t.log.slots[slot].alive.Add(-int64(t.log.weight(e.Class())))
	if e.Class() == format.PartClass {
		t.parts.Add(-1)
	}
}

// drop takes the entry of an id, at a place of its shard's table, out, and with a
// head its parts. The caller holds mu.
func (t *Tier) drop(s *shard, x format.ID, at int, e format.Entry) {
	s.removeAt(at)
	t.unnamed(e)
	if e.Class() == format.HeadClass {
		t.dropParts(s, x, t.mostParts())
	}
}

// moveSome appends records of a segment anew. It reports false if the disk takes
// nothing meanwhile.
func (t *Tier) moveSome(v *victim, recs []format.Listed) bool {
	if len(recs) == 0 {
		return true
	}
	bytes, done := t.bytesOf(v, recs)
	defer done()
	for i, r := range recs {
		for !t.move(v, r, bytes[i]) {
			if t.log.freeSlots() == 0 { // and there will be none until this segment's is
				t.evict(v, r)
				break
			}
			roomOrOff := func() bool { return t.log.roomToMove() || t.state.Load() != on } // whoever heals the tier waits for this
			if !t.log.waitFor(t.cfg.Patience, roomOrOff) || t.state.Load() != on {
				return false
			}
		}
	}
	return true
}

// bytesOf is the bytes of records of a segment, nil for those that cannot be read.
// They are lent until done is called. A buffer of the log is not held meanwhile: it
// may be the one that the records are to be moved to.
func (t *Tier) bytesOf(v *victim, recs []format.Listed) (bytes [][]byte, done func()) {
	bytes = make([][]byte, len(recs))
	if seg := t.log.pin(v.slot, v.serial); seg != nil {
		defer t.log.unpin(seg)
		for i, r := range recs {
			bytes[i] = slices.Clone(seg.buf[r.Offset : r.Offset+r.Bytes])
		}
		return bytes, func() {}
	}
	reqs := make([]aio.Request, len(recs))
	skips := make([]int, len(recs))
	for i, r := range recs {
		sp := spot{slot: v.slot, off: int(r.Offset)}
		reqs[i].Off, reqs[i].N, skips[i] = t.window(&sp, int(r.Bytes))
	}
	t.reader.ReadMany(background, reqs)
	for i := range reqs {
		if err := reqs[i].Err; err != nil {
			t.count.readErrors.Add(1)
			t.health.log("a record that was to be moved could not be read", "segment", v.serial, "error", err)
			continue
		}
		bytes[i] = reqs[i].Buf.Bytes()[skips[i]:]
	}
	return bytes, func() {
		for i := range reqs {
			if b := reqs[i].Buf; b != nil {
				b.Release()
			}
		}
	}
}

// roomToMove reports whether a segment could be opened for what is moved.
func (l *log) roomToMove() bool { return l.canOpen(forReclaim) }

// move appends a record anew, of which b are the bytes, if the index still names
// it. It reports false if the log has no room.
func (t *Tier) move(v *victim, l format.Listed, b []byte) bool {
	r, err := format.ParseRecord(b, format.Origin{Log: t.logNumber(), LSN: t.log.LSN(v.serial, int(l.Offset))})
	if err != nil && b != nil {
		t.count.corrupt.Add(1)
	}
	if err != nil || t.over(r.Deadline, true) {
		t.evict(v, l)
		return true
	}
	s := t.index.shardOf(l.ID)
	s.mu.Lock()
	defer s.mu.Unlock()
	at, e, ok := t.entryOf(s, v, l)
	if !ok {
		return true
	}
	if t.orphan(s, &r) {
		t.evictEntry(s, &l, at, e)
		return true
	}
	loc, size, ok := t.log.append(l.ID, &r, forReclaim)
	if !ok {
		return false
	}
	t.unnamed(e)
	next := s.NewEntry(l.ID, loc, size, l.Kind)
	if v.how == moveAll { // otherwise it has to be read again for another turn
		next |= e & format.ReadBit
	}
	s.slots[at] = uint64(next)
	t.appended(next)
	t.count.reinserted.Add(1)
	t.count.reinsertedBytes.Add(uint64(size))
	return true
}

// evict takes a record of a segment out of the index, if that still names it.
func (t *Tier) evict(v *victim, l format.Listed) {
	s := t.index.shardOf(l.ID)
	s.mu.Lock()
	defer s.mu.Unlock()
	if at, e, ok := t.entryOf(s, v, l); ok {
		t.evictEntry(s, &l, at, e)
	}
}

// entryOf finds the entry that names a record of a segment, and its place in the
// shard's table. The caller holds mu.
func (t *Tier) entryOf(s *shard, v *victim, l format.Listed) (at int, e format.Entry, ok bool) {
	at, e, ok = s.search(s.FingerprintOf(l.ID))
	return at, e, ok && s.Location(e) == t.log.Location(v.slot, int(l.Offset))
}

// list reads which records a segment has.
func (t *Tier) list(slot int, serial uint64) ([]format.Listed, error) {
	if s := t.log.pin(slot, serial); s != nil {
		defer t.log.unpin(s)
		tr, ok := format.ParseTrailer(s.buf[len(s.buf)-format.TrailerLen:], t.logNumber(), len(s.buf))
		if !ok {
			return nil, format.ErrCorrupt
		}
		return format.ParseList(nil, s.buf[s.listAt:len(s.buf)-format.TrailerLen], tr, t.log.UnitShift)
	}
	return t.readList(slot, serial)
}

// readList is list for a segment that is not in memory.
func (t *Tier) readList(slot int, serial uint64) ([]format.Listed, error) {
	size := t.log.SegmentBytes()
	base := int64(slot) << t.log.SegmentShift
	buf, err := t.reader.Read(background, base+int64(size-files.BlockBytes), files.BlockBytes)
	if err != nil {
		return nil, err
	}
	tr, ok := format.ParseTrailer(buf.Bytes()[files.BlockBytes-format.TrailerLen:], t.logNumber(), size)
	buf.Release()
	if !ok || tr.Serial != serial {
		return nil, format.ErrCorrupt
	}
	from := (size - format.TrailerLen - tr.ListLen) &^ (files.BlockBytes - 1)
	if buf, err = t.reader.Read(background, base+int64(from), size-from); err != nil {
		return nil, err
	}
	defer buf.Release()
	b := buf.Bytes()
	return format.ParseList(nil, b[len(b)-format.TrailerLen-tr.ListLen:len(b)-format.TrailerLen], tr, t.log.UnitShift)
}
