package ssd

import (
	"slices"

	"github.com/firncache/firn/internal/aio"
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
		v := victim{slot: i, serial: w.serial.Load()}
		if v.serial == 0 || !l.slots[i].sealed {
			continue
		}
		if v.share = float64(l.slots[i].alive.Load()) / float64(max(w.written.Load(), 1)); v.share == 0 || w.until.Load() < now {
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
	budget := t.log.segBytes()
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
func (t *Tier) someOf(recs []listed) (n int) {
	for room := t.readMemory(); n < min(len(recs), moveAtOnce); n++ {
		if room -= int64(recs[n].bytes); room < 0 && n > 0 {
			break
		}
	}
	return n
}

// sort returns those of a segment's records that go to the end of the log, and how
// many bytes they have, which are at most budget; what else is alive it takes out of
// the index.
func (t *Tier) sort(v *victim, recs []listed, budget int) (kept []listed, bytes int) {
	for i := range recs {
		r := &recs[i]
		t.index.prefetch(recs[min(i+prefetchAhead, len(recs)-1)].id)
		s := t.index.shardOf(r.id)
		s.mu.Lock()
		if at, e, ok := t.entryOf(s, v, *r); ok {
			if (v.how == moveAll || e.read()) && bytes+int(r.bytes) <= budget {
				kept = append(kept, *r)
				bytes += int(r.bytes)
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
func (t *Tier) evictEntry(s *shard, l *listed, at int, e entry) {
	t.drop(s, l.id, at, e)
	if l.kind != isPart || t.dropOwner(s, l.id) {
		t.count.evicted.Add(1)
	}
}

// named counts what an entry names as alive, which the index has from now on. What was
// appended is counted already.
func (t *Tier) named(e entry) {
	slot, _ := t.log.place(t.index.location(e))
	t.log.slots[slot].alive.Add(int64(t.log.weight(e.class())))
	t.appended(e)
}

// appended is named for an entry of what was just appended: the log has counted it.
func (t *Tier) appended(e entry) {
	if e.class() == partClass {
		t.parts.Add(1)
	}
}

// unnamed counts what an entry names as dead: the index has it no more.
func (t *Tier) unnamed(e entry) {
	slot, _ := t.log.place(t.index.location(e))
	t.log.slots[slot].alive.Add(-int64(t.log.weight(e.class())))
	if e.class() == partClass {
		t.parts.Add(-1)
	}
}

// drop takes the entry of an id, at a place of its shard's table, out, and with a
// head its parts. The caller holds mu.
func (t *Tier) drop(s *shard, x id, at int, e entry) {
	s.removeAt(at)
	t.unnamed(e)
	if e.class() == headClass {
		t.dropParts(s, x, t.mostParts())
	}
}

// moveSome appends records of a segment anew. It reports false if the disk takes
// nothing meanwhile.
func (t *Tier) moveSome(v *victim, recs []listed) bool {
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
func (t *Tier) bytesOf(v *victim, recs []listed) (bytes [][]byte, done func()) {
	bytes = make([][]byte, len(recs))
	if seg := t.log.pin(v.slot, v.serial); seg != nil {
		defer t.log.unpin(seg)
		for i, r := range recs {
			bytes[i] = slices.Clone(seg.buf[r.offset : r.offset+r.bytes])
		}
		return bytes, func() {}
	}
	reqs := make([]aio.Request, len(recs))
	skips := make([]int, len(recs))
	for i, r := range recs {
		sp := spot{slot: v.slot, off: int(r.offset)}
		reqs[i].Off, reqs[i].N, skips[i] = t.window(&sp, int(r.bytes))
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
func (t *Tier) move(v *victim, l listed, b []byte) bool {
	r, err := parseRecord(b, origin{t.logNumber(), t.log.lsn(v.serial, int(l.offset))})
	if err != nil && b != nil {
		t.count.corrupt.Add(1)
	}
	if err != nil || t.over(r.deadline, true) {
		t.evict(v, l)
		return true
	}
	s := t.index.shardOf(l.id)
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
	loc, size, ok := t.log.append(l.id, &r, forReclaim)
	if !ok {
		return false
	}
	t.unnamed(e)
	next := s.entryOf(l.id, loc, size, l.kind)
	if v.how == moveAll { // otherwise it has to be read again for another turn
		next |= e & readBit
	}
	s.slots[at] = uint64(next)
	t.appended(next)
	t.count.reinserted.Add(1)
	t.count.reinsertedBytes.Add(uint64(size))
	return true
}

// evict takes a record of a segment out of the index, if that still names it.
func (t *Tier) evict(v *victim, l listed) {
	s := t.index.shardOf(l.id)
	s.mu.Lock()
	defer s.mu.Unlock()
	if at, e, ok := t.entryOf(s, v, l); ok {
		t.evictEntry(s, &l, at, e)
	}
}

// entryOf finds the entry that names a record of a segment, and its place in the
// shard's table. The caller holds mu.
func (t *Tier) entryOf(s *shard, v *victim, l listed) (at int, e entry, ok bool) {
	at, e, ok = s.search(s.fingerprintOf(l.id))
	return at, e, ok && s.location(e) == t.log.location(v.slot, int(l.offset))
}

// list reads which records a segment has.
func (t *Tier) list(slot int, serial uint64) ([]listed, error) {
	if s := t.log.pin(slot, serial); s != nil {
		defer t.log.unpin(s)
		tr, ok := parseTrailer(s.buf[len(s.buf)-trailerLen:], t.logNumber(), len(s.buf))
		if !ok {
			return nil, errCorrupt
		}
		return parseList(nil, s.buf[s.listAt:len(s.buf)-trailerLen], tr, t.log.unitShift)
	}
	return t.readList(slot, serial)
}

// readList is list for a segment that is not in memory.
func (t *Tier) readList(slot int, serial uint64) ([]listed, error) {
	size := t.log.segBytes()
	base := int64(slot) << t.log.segShift
	buf, err := t.reader.Read(background, base+int64(size-blockBytes), blockBytes)
	if err != nil {
		return nil, err
	}
	tr, ok := parseTrailer(buf.Bytes()[blockBytes-trailerLen:], t.logNumber(), size)
	buf.Release()
	if !ok || tr.serial != serial {
		return nil, errCorrupt
	}
	from := (size - trailerLen - tr.listLen) &^ (blockBytes - 1)
	if buf, err = t.reader.Read(background, base+int64(from), size-from); err != nil {
		return nil, err
	}
	defer buf.Release()
	b := buf.Bytes()
	return parseList(nil, b[len(b)-trailerLen-tr.listLen:len(b)-trailerLen], tr, t.log.unitShift)
}
