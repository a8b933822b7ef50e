package ssd

import (
	"github.com/firncache/firn/internal/ssd/files"
	"github.com/firncache/firn/internal/ssd/format"
)

// endLog ends the log where the last process stopped writing it, at flushed: the
// segments of which nothing is on the disk are none, and the one that was being
// written gets the list that it lacks. Should the process die meanwhile, the next one
// does the same.
func (t *Tier) endLog(flushed uint64) {
	l := t.log
	for slot := range l.slotWords {
		serial := l.slotWords[slot].Serial.Load()
		switch {
		case serial == 0 || l.LSN(serial+1, 0) <= flushed:
		case l.LSN(serial, format.SegmentHeaderLen) >= flushed:
			l.slotWords[slot].Serial.Store(0)
		default:
			if err := t.sealLastSegment(slot, serial); err != nil { // its records go when it is reclaimed
				t.health.log("the last segment could not be sealed", "segment", serial, "error", err)
			}
		}
	}
}

// sealLastSegment writes the list and the trailer of a segment that a process left
// without them. Nobody uses the log's buffers yet.
func (t *Tier) sealLastSegment(slot int, serial uint64) error {
	l := t.log
	s := &segment{slot: slot, serial: serial, buf: l.bufs[0]}
	base := l.FileOffset(slot, 0)
	if _, err := t.logFile.ReadAt(s.buf, base); err != nil {
		return err
	}
	var recs []format.Listed
	recs, s.end = format.Walk(s.buf, l.logID, serial, l.Geometry, &t.ids)
	s.count = len(recs)
	for _, r := range recs {
		s.list = format.AppendListed(s.list, r.ID, r.Kind, r.Bytes>>l.UnitShift)
	}
	if s.end+len(s.list) > len(s.buf)-format.TrailerLen {
		return format.ErrCorrupt
	}
	s.putList(l.logID, t.Now())
	from := s.listAt &^ (files.BlockBytes - 1)
	_, err := t.logFile.WriteAt(s.buf[from:], base+int64(from))
	return err
}
