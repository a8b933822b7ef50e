package log

import (
	"github.com/firncache/firn/internal/ssd/files"
	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/vfs"
)

// EndAt ends the log where the last process stopped writing it, at flushed: the
// segments of which nothing is on the disk are none, and the one that was being
// written gets the list that it lacks. Should the process die meanwhile, the next one
// does the same.
func (l *Log) EndAt(flushed uint64, f vfs.File, ids *format.IDs, failed func(serial uint64, err error)) {
	for slot := range l.SlotWords {
		serial := l.SlotWords[slot].Serial.Load()
		switch {
		case serial == 0 || l.LSN(serial+1, 0) <= flushed:
		case l.LSN(serial, format.SegmentHeaderLen) >= flushed:
			l.SlotWords[slot].Serial.Store(0)
		default:
			if err := l.sealLast(f, ids, slot, serial); err != nil { // its records go when it is reclaimed
				failed(serial, err)
			}
		}
	}
}

// sealLast writes the list and the trailer of a segment that a process left
// without them. Nobody uses the log's buffers yet.
func (l *Log) sealLast(f vfs.File, ids *format.IDs, slot int, serial uint64) error {
	s := &Segment{Slot: slot, Serial: serial, Buf: l.bufs[0]}
	base := l.FileOffset(slot, 0)
	if _, err := f.ReadAt(s.Buf, base); err != nil {
		return err
	}
	var recs []format.Listed
	recs, s.End = format.Walk(s.Buf, l.logID, serial, l.Geometry, ids)
	s.count = len(recs)
	for _, r := range recs {
		s.list = format.AppendListed(s.list, r.ID, r.Kind, r.Bytes>>l.UnitShift)
	}
	if s.End+len(s.list) > len(s.Buf)-format.TrailerLen {
		return format.ErrCorrupt
	}
	s.putList(l.logID, l.now())
	from := s.listAt &^ (files.BlockBytes - 1)
	_, err := f.WriteAt(s.Buf[from:], base+int64(from))
	return err
}
