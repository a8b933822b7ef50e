package ssd

import (
	"errors"
	"io/fs"

	"github.com/firncache/firn/internal/ssd/files"
	"github.com/firncache/firn/internal/vfs"
)

// flusher writes segments to the file, in the order of the log, so that a crash
// leaves the beginning of the last segment.
type flusher struct {
	log   *log
	file  vfs.File
	block []byte // for the last block of a segment that is still growing

	onFailed  func(s *segment, e error) // called for a segment of which a write failed twice
	onWritten func()                    // called for one that was written to its end
}

// piece is a range of a segment to write.
type piece struct {
	s        *segment
	from, to int  // bytes of the segment; multiples of a block
	upTo     int  // the bytes of the segment written by then
	partial  bool // the last block is still growing
	list     bool // the list and the trailer: the segment's end
}

// run writes until the log is closed, and nothing is left to write, or writes are refused.
func (f *flusher) run() {
	l := f.log
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		p, ok := l.nextPiece()
		if !ok {
			if l.closed {
				return
			}
			l.changed.Wait()
			continue
		}
		if p.partial {
			last := p.to - files.BlockBytes
			clear(f.block)
			copy(f.block, p.s.buf[last:p.upTo])
		}
		l.writing = true
		l.mu.Unlock()
		err := f.write(p)
		if err != nil {
			err = f.write(p)
		}
		if errors.Is(err, fs.ErrClosed) { // refused: Close has given up
			l.mu.Lock()
			l.writing = false
			l.changed.Broadcast()
			return
		}
		if err != nil {
			l.abandonSegment(p.s)
			f.onFailed(p.s, err)
		} else if p.list {
			f.onWritten()
		}
		l.mu.Lock()
		l.writing = false
		l.wrote(p)
	}
}

// nextPiece is the range to write next, if there is one.
func (l *log) nextPiece() (p piece, ok bool) {
	for len(l.sealed) > 0 && (l.sealed[0].done || l.sealed[0].failed) {
		l.sealed = l.sealed[1:]
	}
	if len(l.sealed) > 0 {
		s := l.sealed[0]
		from := s.written &^ (files.BlockBytes - 1)
		if s.written < s.end {
			to := min(from+writeChunk, (s.end+files.BlockBytes-1)&^(files.BlockBytes-1))
			return piece{s: s, from: from, to: to, upTo: min(to, s.end)}, true
		}
		return piece{s: s, from: s.listAt &^ (files.BlockBytes - 1), to: l.SegmentBytes(), upTo: s.end, list: true}, true
	}
	s := l.open
	if s == nil || s.failed {
		return p, false
	}
	from, full := s.written&^(files.BlockBytes-1), s.end&^(files.BlockBytes-1)
	switch {
	case full-from >= writeChunk:
		return piece{s: s, from: from, to: from + writeChunk, upTo: from + writeChunk}, true
	case s.written < s.end && l.forceLSN > l.LSN(s.serial, s.written):
		to := (s.end + files.BlockBytes - 1) &^ (files.BlockBytes - 1)
		return piece{s: s, from: from, to: to, upTo: s.end, partial: to > s.end}, true
	}
	return p, false
}

// write hands a piece to the file.
func (f *flusher) write(p piece) error {
	at := f.log.FileOffset(p.s.slot, p.from)
	whole := p.s.buf[p.from:p.to]
	if p.partial {
		whole = whole[:len(whole)-files.BlockBytes]
		if _, err := f.file.WriteAt(f.block, at+int64(len(whole))); err != nil {
			return err
		}
	}
	if len(whole) > 0 {
		if _, err := f.file.WriteAt(whole, at); err != nil {
			return err
		}
	}
	return nil
}

// abandonSegment ends a segment that cannot be written: nothing is appended to it any
// more.
func (l *log) abandonSegment(s *segment) {
	l.mu.Lock()
	s.failed = true
	l.slots[s.slot].bad = true
	if l.open == s {
		l.open = nil
	}
	l.mu.Unlock()
}

// wrote notes that a piece is on the device, or never will be.
func (l *log) wrote(p piece) {
	s := p.s
	switch {
	case s.failed:
		s.done = true
	case p.list:
		s.done = true
		l.slots[s.slot].sealed = true
	}
	s.written = max(s.written, p.upTo)
	upTo := l.LSN(s.serial, s.wholeRecords(l.UnitShift))
	if s.done {
		upTo = l.LSN(s.serial+1, 0)
	}
	if l.flushed.Load() < upTo {
		l.flushed.Store(upTo)
	}
	l.updateStalled()
	l.changed.Broadcast()
}
