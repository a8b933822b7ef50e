package log

import "github.com/firncache/firn/internal/ssd/format"

// Append writes a record into the open segment, opening one if it has to. It
// never waits for the disk: without a buffer or a slot, of which reserve are not for
// the caller, it reports false. The caller holds the lock of the id's shard. The record
// counts as alive from here on, so that its segment is not freed before the index names it.
func (l *Log) Append(x format.ID, r *format.Record, reserve int) (loc format.Location, size int, ok bool) {
	body := r.BodyChecksum()
	size = l.Pad(r.HeaderLen() + len(r.Key) + len(r.Value))

	l.Mu.Lock()
	defer l.Mu.Unlock()
	defer l.updateStalled()
	l.largestRecord = max(l.largestRecord, size+format.MaxListed)
	s := l.segmentFor(size, reserve)
	if s == nil {
		return 0, 0, false
	}
	at := s.End
	at += r.Put(s.Buf[at:], body, format.Origin{Log: l.logID, LSN: l.LSN(s.Serial, s.End)})
	at += copy(s.Buf[at:], r.Key)
	at += copy(s.Buf[at:], r.Value)
	clear(s.Buf[at : s.End+size])
	loc = l.Location(s.Slot, s.End)
	s.list = format.AppendListed(s.list, x, r.Kind(), uint32(size>>l.UnitShift))
	s.count++
	s.End += size
	w := &l.SlotWords[s.Slot]
	weight := l.Weight(format.Class(r.Kind(), s.End-size, size))
	w.Written.Add(weight)
	l.Slots[s.Slot].Alive.Add(int64(weight)) // before the index names it: see countLive
	w.Until.Store(max(w.Until.Load(), l.until(r.Deadline)))
	l.Tail.Store(l.LSN(s.Serial, s.End))
	if s.End-s.written >= writeChunk {
		l.changed.Broadcast()
	}
	return loc, size, true
}

// until is when a record with a deadline is of no use any more.
func (l *Log) until(deadline int64) uint64 {
	if deadline == 0 {
		return format.Forever
	}
	return uint64(max(deadline, 0) + l.grace.Load())
}

// segmentFor is the open segment, if it has room for a record of size bytes, or a new
// one; nil if there is no memory or no slot for one.
func (l *Log) segmentFor(size, reserve int) *Segment {
	s := l.Open
	if len(l.Free) < reserve {
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
		l.Seal()
	}
	return l.openSegment()
}

// openSegment opens one: there is memory, and a slot.
func (l *Log) openSegment() *Segment {
	s := &Segment{Slot: int(l.Free[0]), Serial: l.next, End: format.SegmentHeaderLen, whole: format.SegmentHeaderLen}
	if len(l.bufs) > 0 {
		s.Buf = l.bufs[len(l.bufs)-1]
		l.bufs = l.bufs[:len(l.bufs)-1]
	} else {
		i := l.idleBuffer()
		old := l.Memory[i]
		s.Buf, s.list = old.Buf, old.list[:0]
		l.Memory = append(l.Memory[:i], l.Memory[i+1:]...)
	}
	l.Free = l.Free[:copy(l.Free, l.Free[1:])]
	if len(l.Free) < l.FreeTarget && l.WakeMaintenance != nil {
		l.WakeMaintenance()
	}
	l.next++
	l.head.Next.Store(l.next)
	format.PutSegmentHeader(s.Buf, l.logID, s.Serial, l.SegmentBytes())
	l.Slots[s.Slot].sealed = false
	l.SlotWords[s.Slot].Written.Store(0)
	l.SlotWords[s.Slot].Until.Store(0)
	l.SlotWords[s.Slot].Serial.Store(s.Serial)
	l.Memory = append(l.Memory, s)
	l.Open = s
	l.Tail.Store(l.LSN(s.Serial, s.End))
	l.changed.Broadcast()
	return s
}

// Seal ends the open segment: its list and trailer take their places, and it
// waits to be written.
func (l *Log) Seal() {
	s := l.Open
	l.Open = nil
	now := l.now()
	s.putList(l.logID, now)
	l.head.NoteTime(now)
	l.sealed = append(l.sealed, s)
	l.changed.Broadcast()
}

// FreeSlot frees a slot: no entry of the index names it any more.
func (l *Log) FreeSlot(slot int) {
	l.Mu.Lock()
	s := &l.Slots[slot]
	l.SlotWords[slot].Serial.Store(0)
	s.sealed = false
	if !s.bad && !l.isSurplus(slot) {
		l.Free = append(l.Free, int32(slot))
	}
	l.updateStalled()
	l.changed.Broadcast()
	l.Mu.Unlock()
}
