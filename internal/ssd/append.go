package ssd

import "github.com/firncache/firn/internal/ssd/format"

// append writes a record into the open segment, opening one if it has to. It
// never waits for the disk: without a buffer or a slot, of which reserve are not for
// the caller, it reports false. The caller holds the lock of the id's shard. The record
// counts as alive from here on, lest its segment be given back before the index names it.
func (l *log) append(x format.ID, r *format.Record, reserve int) (loc format.Location, size int, ok bool) {
	body := r.BodyChecksum()
	size = l.Pad(r.HeaderLen() + len(r.Key) + len(r.Value))

	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.updateStalled()
	l.largestRecord = max(l.largestRecord, size+format.MaxListed)
	s := l.segmentFor(size, reserve)
	if s == nil {
		return 0, 0, false
	}
	at := s.end
	at += r.Put(s.buf[at:], body, format.Origin{Log: l.logID, LSN: l.LSN(s.serial, s.end)})
	at += copy(s.buf[at:], r.Key)
	at += copy(s.buf[at:], r.Value)
	clear(s.buf[at : s.end+size])
	loc = l.Location(s.slot, s.end)
	s.list = format.AppendListed(s.list, x, r.Kind(), uint32(size>>l.UnitShift))
	s.count++
	s.end += size
	w := &l.slotWords[s.slot]
	weight := l.weight(format.Class(r.Kind(), s.end-size, size))
	w.Written.Add(weight)
	l.slots[s.slot].alive.Add(int64(weight)) // before the index names it: see countLive
	w.Until.Store(max(w.Until.Load(), l.until(r.Deadline)))
	l.tail.Store(l.LSN(s.serial, s.end))
	if s.end-s.written >= writeChunk {
		l.changed.Broadcast()
	}
	return loc, size, true
}

// until is when a record with a deadline is of no use any more.
func (l *log) until(deadline int64) uint64 {
	if deadline == 0 {
		return format.Forever
	}
	return uint64(max(deadline, 0) + l.grace.Load())
}

// segmentFor is the open segment, if it has room for a record of size bytes, or a new
// one; nil if there is no memory or no slot for one.
func (l *log) segmentFor(size, reserve int) *segment {
	s := l.open
	if len(l.free) < reserve {
		return nil // the rest of the last slot is for records that are being moved
	}
	if l.fits(size) {
		return s
	}
	if size > l.MaxRecord() || l.closed {
		return nil
	}
	if !l.canOpen(reserve) {
		return nil
	}
	if s != nil {
		l.seal()
	}
	return l.openSegment()
}

// openSegment opens one: there is memory, and a slot.
func (l *log) openSegment() *segment {
	s := &segment{slot: int(l.free[0]), serial: l.next, end: format.SegmentHeaderLen, whole: format.SegmentHeaderLen}
	if len(l.bufs) > 0 {
		s.buf = l.bufs[len(l.bufs)-1]
		l.bufs = l.bufs[:len(l.bufs)-1]
	} else {
		i := l.idleBuffer()
		old := l.memory[i]
		s.buf, s.list = old.buf, old.list[:0]
		l.memory = append(l.memory[:i], l.memory[i+1:]...)
	}
	l.free = l.free[:copy(l.free, l.free[1:])]
	if len(l.free) < l.freeTarget && l.wakeMaintenance != nil {
		l.wakeMaintenance()
	}
	l.next++
	l.head.Next.Store(l.next)
	format.PutSegmentHeader(s.buf, l.logID, s.serial, l.SegmentBytes())
	l.slots[s.slot].sealed = false
	l.slotWords[s.slot].Written.Store(0)
	l.slotWords[s.slot].Until.Store(0)
	l.slotWords[s.slot].Serial.Store(s.serial)
	l.memory = append(l.memory, s)
	l.open = s
	l.tail.Store(l.LSN(s.serial, s.end))
	l.changed.Broadcast()
	return s
}

// seal ends the open segment: its list and trailer take their places, and it
// waits to be written.
func (l *log) seal() {
	s := l.open
	l.open = nil
	now := l.now()
	s.putList(l.logID, now)
	l.head.NoteTime(now)
	l.sealed = append(l.sealed, s)
	l.changed.Broadcast()
}

// pin finds a segment in memory and keeps its bytes there until unpin. What lies
// before its end at the time does not change.
func (l *log) pin(slot int, serial uint64) *segment {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.memory {
		if s.slot == slot && s.serial == serial {
			s.pins++
			return s
		}
	}
	return nil
}

func (l *log) unpin(s *segment) {
	l.mu.Lock()
	if s.pins--; s.pins == 0 && s.done {
		l.updateStalled()
		l.changed.Broadcast()
	}
	l.mu.Unlock()
}

// freeSlot frees a slot: no entry of the index names it any more.
func (l *log) freeSlot(slot int) {
	l.mu.Lock()
	s := &l.slots[slot]
	l.slotWords[slot].Serial.Store(0)
	s.sealed = false
	if !s.bad && !l.isSurplus(slot) {
		l.free = append(l.free, int32(slot))
	}
	l.updateStalled()
	l.changed.Broadcast()
	l.mu.Unlock()
}

// resumeAt makes the log go on with a serial, beside the segments that its slots have.
// All of them have been written.
func (l *log) resumeAt(next uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.resumeAtLocked(next)
}

func (l *log) resumeAtLocked(next uint64) {
	l.free = l.free[:0]
	for i := range l.slots {
		serial := l.slotWords[i].Serial.Load()
		l.slots[i].sealed = serial != 0
		if serial == 0 && !l.isSurplus(i) {
			l.free = append(l.free, int32(i))
		}
		next = max(next, serial+1)
	}
	l.next = next
	l.head.Next.Store(next)
	l.tail.Store(l.LSN(next, 0))
	l.flushed.Store(l.LSN(next, 0))
	l.updateStalled()
}

// pause ends the segments that are not written to their end, waits for the writer, and
// lets nothing be appended until reset: an appended record is named in the index, which
// is about to be emptied.
func (l *log) pause() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s := l.open; s != nil {
		l.sealed = append(l.sealed, s)
		l.open = nil
	}
	for _, s := range l.sealed {
		s.failed = true // lest it be written any further
	}
	l.paused = true
	for l.writing {
		l.changed.Wait()
	}
	for _, s := range l.sealed {
		s.done = true
	}
	l.sealed = nil
}

// reset begins an empty log. All slots are free.
func (l *log) reset(logID, next uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.logID = logID
	for i := range l.slots {
		s := &l.slots[i]
		l.slotWords[i].Serial.Store(0)
		s.alive.Store(0)
		s.bad = false
	}
	l.paused = false
	l.resumeAtLocked(max(l.next, next))
	l.changed.Broadcast()
}

// inMemory reports whether a segment may not be on the disk yet.
func (l *log) inMemory(slot int, serial uint64) bool {
	s := l.pin(slot, serial)
	if s != nil {
		l.unpin(s)
	}
	return s != nil
}
