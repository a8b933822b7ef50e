package ssd

import (
	"errors"
	"slices"

	"github.com/firncache/firn/internal/aio"
)

// reclaim frees the slot of the oldest segment, if there is need to. It reports
// whether it did.
func (t *Tier) reclaim() bool {
	if t.state.Load() != on || t.log.freeSlots() >= t.log.ahead && !t.index.full() {
		return false
	}
	t.log.full.Store(true) // also if it is the index that has no room
	slot, serial, ok := t.log.oldest()
	if !ok {
		return false
	}
	recs, err := t.list(slot, serial)
	// From here on the disk says that the segment is dead. Only then may the index
	// forget its records: what it does not name is not noted in the journal when
	// it is written again.
	if err := t.sayDead(serial); err != nil {
		t.switchOff(err)
		return false
	}
	if err != nil {
		t.count.readErrors.Add(1)
		t.health.log("a segment's list could not be read", "segment", serial, "error", err)
		t.forget(slot)
	} else {
		t.dropAll(slot, recs)
	}
	t.log.release(slot)
	t.count.reclaimed.Add(1)
	return true
}

// sayDead returns when the files say that a segment and all before it are dead.
func (t *Tier) sayDead(serial uint64) error {
	if err := t.noteFloor(serial + 1); err != nil {
		return err
	}
	t.floor.Store(serial + 1) // each is higher than the one before
	return nil
}

// noteFloor writes a floor to the journal, or, while that is full, to the
// superblock.
func (t *Tier) noteFloor(floor uint64) error {
	err := t.journal.commitNow(note{kind: noteFloor, at: floor})
	if !errors.Is(err, errJournalFull) {
		return err
	}
	t.super.Lock()
	defer t.super.Unlock()
	s := t.super.superblock
	s.floor = max(s.floor, floor)
	if err := replaceSuperblock(t.super.file, &s); err != nil {
		return err
	}
	t.super.superblock = s
	return nil
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

// dropAll takes the records of a segment out of the index, but for those that
// were read since they were written: these go to the end of the log, up to half
// a segment of them. While most of the log is dead, all that are live go there:
// room is no reason to lose them.
func (t *Tier) dropAll(slot int, recs []listed) {
	var hot []listed
	budget := t.log.segBytes() / 2
	keepAll := t.mostlyDead()
	for i := range recs {
		r := &recs[i]
		t.index.prefetch(recs[min(i+prefetchAhead, len(recs)-1)].id)
		if r.tombstones {
			continue
		}
		s := t.index.shardOf(r.id)
		s.mu.Lock()
		if e, ok := s.find(r.id); ok && s.location(e) == t.log.location(slot, int(r.offset)) {
			if (e.read() || keepAll) && int(r.bytes) <= budget {
				hot = append(hot, *r)
				budget -= int(r.bytes)
			} else {
				s.remove(r.id)
				t.count.evicted.Add(1)
			}
		}
		s.mu.Unlock()
	}
	for len(hot) > 0 {
		n := min(len(hot), reinsertAtOnce)
		t.reinsert(slot, hot[:n])
		hot = hot[n:]
	}
}

const reinsertAtOnce = 32

// mostlyDead reports whether less than half of the log is live, if records are
// as long as they were on average.
func (t *Tier) mostlyDead() bool {
	n := t.count.demoted.Load() + t.count.reinserted.Load()
	if n == 0 {
		return false
	}
	mean := float64(t.log.appended.Load()) / float64(n)
	return mean*float64(t.index.len()) < float64(len(t.log.slots))*float64(t.log.segBytes())/2
}

// reinsert appends records of a segment that is being reclaimed anew.
func (t *Tier) reinsert(slot int, recs []listed) {
	serial := t.log.slots[slot].serial.Load()
	reqs := make([]aio.Request, len(recs))
	skips := make([]int, len(recs))
	seg := t.log.pin(slot, serial)
	if seg != nil {
		defer t.log.unpin(seg)
	} else {
		for i, r := range recs {
			sp := spot{slot: slot, off: int(r.offset)}
			reqs[i].Off, reqs[i].N, skips[i] = t.window(&sp, int(r.bytes))
		}
		t.reader.ReadMany(background, reqs)
	}
	for i, r := range recs {
		var b []byte
		switch {
		case seg != nil:
			b = seg.buf[r.offset : r.offset+r.bytes]
		case reqs[i].Err == nil:
			b = reqs[i].Buf.Bytes()[skips[i]:]
		}
		t.move(slot, serial, r, b)
		if reqs[i].Buf != nil {
			reqs[i].Buf.Release()
		}
	}
}

// move appends a record anew, of which b are the bytes, if the index still names
// it, and otherwise drops it.
func (t *Tier) move(slot int, serial uint64, l listed, b []byte) {
	r, err := parseRecord(b, origin{t.logNumber(), t.log.lsn(serial, int(l.offset))})
	s := t.index.shardOf(l.id)
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.find(l.id)
	if !ok || s.location(e) != t.log.location(slot, int(l.offset)) {
		return
	}
	if err == nil && !t.over(r.deadline, true) {
		if loc, size, ok := t.log.append(l.id, &r); ok {
			s.put(s.newEntry(l.id, loc, size))
			t.count.reinserted.Add(1)
			t.count.reinsertedBytes.Add(uint64(size))
			return
		}
	}
	s.remove(l.id)
	t.count.evicted.Add(1)
}

// fold writes what the full area of the journal says is dead into the log, and
// frees the area. It reports false if there was nothing to fold, or no room.
//
// An id that has a later record needs no tombstone, for that record kills the
// older ones as well; but then it must be on the disk before the note goes, and
// must stay there as long as they do. The note of how far the log reached tells a
// recovery to miss it.
func (t *Tier) fold() bool {
	ids, generation, ok := t.journal.unfolded()
	if !ok || t.recovering.Load() && !t.journal.full() { // what is yet to be recovered would get tombstones
		return false
	}
	failing, ok := t.log.steady()
	if !ok {
		return false
	}
	if !t.settle(t.stillDead(ids), failing) {
		return false
	}
	t.journal.foldDone(generation)
	return true
}

// settle makes the log say that ids are dead, and makes the journal rely on it.
// Only then may the index forget records of them that came before the tombstones.
// It reports false if that is not on the disk: then the index forgets nothing, and
// the journal has to repeat what it says.
func (t *Tier) settle(ids []id, failing int) bool {
	var dead []entombed
	for some := range slices.Chunk(ids, t.log.most()/4/idLen) {
		lsn, ok := t.entomb(some)
		if !ok {
			return false
		}
		dead = append(dead, entombed{lsn, some})
	}
	// The reach has to lie in a segment that is there: after Open none may be yet.
	if !t.log.begun() {
		if _, ok := t.entomb(nil); !ok {
			return false
		}
	}
	reach, ok := t.log.rely(failing)
	if !ok {
		return false
	}
	if err := t.journal.commitLast(append(t.journal.stands(), note{kind: noteReach, at: reach})...); err != nil {
		t.switchOff(err)
		return false
	}
	for _, d := range dead {
		t.dropBefore(d.lsn, d.ids)
	}
	return true
}

// entombed says where the log has the tombstones of ids.
type entombed struct {
	lsn uint64
	ids []id
}

// stillDead is what of ids has no later record: the others need no tombstone.
func (t *Tier) stillDead(ids []id) []id {
	dead := ids[:0]
	for i, x := range ids {
		t.index.prefetch(ids[min(i+prefetchAhead, len(ids)-1)])
		s := t.index.shardOf(x)
		s.mu.Lock()
		if e, ok := s.find(x); !ok || s.grave(e) {
			dead = append(dead, x)
		}
		s.mu.Unlock()
	}
	return dead
}

// entomb appends tombstones, at lsn. It reports whether there was room for them.
func (t *Tier) entomb(ids []id) (lsn uint64, ok bool) {
	list := make([]byte, 0, len(ids)*idLen)
	for _, x := range ids {
		list = appendID(list, x)
	}
	loc, _, ok := t.log.append(0, &rec{flags: flagTombstones, value: list})
	if !ok {
		return 0, false
	}
	t.count.tombstones.Add(uint64(len(ids)))
	return t.log.lsnAt(loc), true
}

// dropBefore takes out what was appended under ids between the moment when they
// were dead and their tombstones, at an LSN: a recovery will not find it, and the
// index agrees with what a recovery finds. Until the tombstones are on the disk a
// recovery may find it, and who writes the key has to find it here, and note that.
func (t *Tier) dropBefore(lsn uint64, ids []id) {
	for _, x := range ids {
		s := t.index.shardOf(x)
		s.mu.Lock()
		if e, ok := s.find(x); ok && !s.grave(e) && t.log.lsnAt(s.location(e)) < lsn {
			if t.recovering.Load() {
				s.put(s.newGrave(x)) // a recovery must find nothing older in its place
			} else {
				s.remove(x)
			}
			t.count.evicted.Add(1)
		}
		s.mu.Unlock()
	}
}

// begun reports whether the last segment has a record.
func (l *log) begun() bool { return int(l.tail.Load())&(l.segBytes()-1) > segmentHeaderLen }

// steady reports whether no segment is being given up, and how many were.
func (l *log) steady() (failing int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.memory {
		if s.failed && !s.done {
			return 0, false
		}
	}
	return l.failing, !l.closed
}

// rely makes the records of the log so far stand for what the journal is about
// to forget: that an older record of the same id is dead. It returns when they
// have been written, all before the LSN reach. It reports false if some could
// not be, counting from when there were so many failures.
func (l *log) rely(failing int) (reach uint64, ok bool) {
	l.mu.Lock()
	for _, s := range l.memory {
		s.relied = true
	}
	reach = l.tail.Load()
	l.mu.Unlock()
	l.flushTo(reach)
	l.mu.Lock()
	defer l.mu.Unlock()
	return reach, l.failing == failing && !l.closed
}

// reliesOn reports whether a segment cannot be missed: then nothing older than
// its records is known to be dead.
func (l *log) reliesOn(s *segment) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return s.relied
}
