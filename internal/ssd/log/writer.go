package log

import (
	"errors"
	"io/fs"

	"github.com/firncache/firn/internal/ssd/files"
	"github.com/firncache/firn/internal/vfs"
)

// Writer writes segments to the file, in the order of the log, so that a crash
// leaves the beginning of the last segment.
type Writer struct {
	log   *Log
	file  vfs.File
	block []byte // for the last block of a segment that is still growing

	onFailed  func(s *Segment, e error) // called for a segment of which a write failed twice
	onWritten func()                    // called for one that was written to its end
}

func NewWriter(l *Log, file vfs.File, onFailed func(s *Segment, e error), onWritten func()) *Writer {
	return &Writer{log: l, file: file, block: vfs.Aligned(files.BlockBytes, files.BlockBytes), onFailed: onFailed, onWritten: onWritten}
}

// Run writes until the log is closed, and nothing is left to write, or writes are refused.
func (f *Writer) Run() {
	l := f.log
	l.Mu.Lock()
	defer l.Mu.Unlock()
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
			copy(f.block, p.s.Buf[last:p.upTo])
		}
		l.writing = true
		l.Mu.Unlock()
		err := f.write(p)
		if err != nil {
			err = f.write(p)
		}
		if errors.Is(err, fs.ErrClosed) { // refused: Close has given up
			l.Mu.Lock()
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
		l.Mu.Lock()
		l.writing = false
		l.wrote(p)
	}
}

// write hands a piece to the file.
func (f *Writer) write(p piece) error {
	at := f.log.FileOffset(p.s.Slot, p.from)
	whole := p.s.Buf[p.from:p.to]
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
