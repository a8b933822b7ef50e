package log

import (
	"github.com/firncache/firn/internal/ssd/files"
)

// piece is a range of a segment to write.
type piece struct {
	s        *Segment
	from, to int  // bytes of the segment; multiples of a block
	upTo     int  // the bytes of the segment written by then
	partial  bool // the last block is still growing
	list     bool // the list and the trailer: the segment's end
}

// nextPiece is the range to write next, if there is one.
func (l *Log) nextPiece() (p piece, ok bool) {
	for len(l.sealed) > 0 && (l.sealed[0].Done || l.sealed[0].failed) {
		l.sealed = l.sealed[1:]
	}
	if len(l.sealed) > 0 {
		s := l.sealed[0]
		from := s.written &^ (files.BlockBytes - 1)
		if s.written < s.End {
			to := min(from+writeChunk, (s.End+files.BlockBytes-1)&^(files.BlockBytes-1))
			return piece{s: s, from: from, to: to, upTo: min(to, s.End)}, true
		}
		return piece{s: s, from: s.listAt &^ (files.BlockBytes - 1), to: l.SegmentBytes(), upTo: s.End, list: true}, true
	}
	s := l.Open
	if s == nil || s.failed {
		return p, false
	}
	from, full := s.written&^(files.BlockBytes-1), s.End&^(files.BlockBytes-1)
	switch {
	case full-from >= writeChunk:
		return piece{s: s, from: from, to: from + writeChunk, upTo: from + writeChunk}, true
	case s.written < s.End && l.forceLSN > l.LSN(s.Serial, s.written):
		to := (s.End + files.BlockBytes - 1) &^ (files.BlockBytes - 1)
		return piece{s: s, from: from, to: to, upTo: s.End, partial: to > s.End}, true
	}
	return p, false
}

// abandonSegment ends a segment that cannot be written: nothing is appended to it any
// more.
func (l *Log) abandonSegment(s *Segment) {
	l.Mu.Lock()
	s.failed = true
	l.Slots[s.Slot].bad = true
	if l.Open == s {
		l.Open = nil
	}
	l.Mu.Unlock()
}

// wrote notes that a piece is on the device, or never will be.
func (l *Log) wrote(p piece) {
	s := p.s
	switch {
	case s.failed:
		s.Done = true
	case p.list:
		s.Done = true
		l.Slots[s.Slot].sealed = true
	}
	s.written = max(s.written, p.upTo)
	upTo := l.LSN(s.Serial, s.wholeRecords(l.UnitShift))
	if s.Done {
		upTo = l.LSN(s.Serial+1, 0)
	}
	if l.Flushed.Load() < upTo {
		l.Flushed.Store(upTo)
	}
	l.updateStalled()
	l.changed.Broadcast()
}
