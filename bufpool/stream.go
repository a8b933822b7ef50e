package bufpool

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
)

const (
	// minRead is the least room that a Read of an unknown length is given.
	minRead = 512
	// minTrusted: see Pool.trusted.
	minTrusted = 1 << 20
	// maxEmptyReads is how often in a row a reader may return 0 and no error.
	maxEmptyReads = 100
	// copySize is the buffer of Copy.
	copySize = 64 << 10
)

// ReadAll reads r to its end from the default pool; see Pool.ReadAll.
func ReadAll(r io.Reader, hint int64) (*Buffer, error) { return defaultPool.ReadAll(r, hint) }

// ReadAllN reads r to its end from the default pool; see Pool.ReadAllN.
func ReadAllN(r io.Reader, hint, limit int64) (*Buffer, error) {
	return defaultPool.ReadAllN(r, hint, limit)
}

// Copy copies src to dst with a buffer of the default pool; see Pool.Copy.
func Copy(dst io.Writer, src io.Reader) (int64, error) { return defaultPool.Copy(dst, src) }

// ReadAll reads r until io.EOF and returns the bytes read, to be released once.
//
// hint is the length in bytes if the caller knows it, such as
// [http.Response.ContentLength], and 0 or less if not. A right one makes it one
// allocation at most and one pass without a copy; a wrong one costs time, and
// never memory beyond 1 MiB or the top level, whichever is more.
//
// Without a hint the length is found for [bytes.Reader], [bytes.Buffer],
// [strings.Reader], Buffer, [io.LimitedReader] and whatever has a method
// Len() int. Other streams begin with a buffer of the size that recent ones
// ended with, up to 1 MiB, and at least double it when it is full.
//
// On any error but io.EOF the memory is released, and the Buffer is nil. Use
// ReadFrom to keep the bytes from before the error.
func (p *Pool) ReadAll(r io.Reader, hint int64) (*Buffer, error) {
	return p.readAll(r, hint, int64(p.maxBuffer))
}

// ReadAllN is ReadAll for a stream of at most limit bytes. A longer one is
// ErrTooLarge; up to 16 bytes beyond the limit were read from it then, and all is
// released. A hint beyond the limit is no error by itself.
func (p *Pool) ReadAllN(r io.Reader, hint, limit int64) (*Buffer, error) {
	if limit < 0 {
		return nil, fmt.Errorf("%w: limit %d: want 0 or more", ErrNegative, limit)
	}
	return p.readAll(r, hint, min(limit, int64(p.maxBuffer)))
}

func (p *Pool) readAll(r io.Reader, hint, limit int64) (*Buffer, error) {
	if m, ok := r.(*bytes.Reader); ok && int64(m.Len()) <= limit { // length would find it, later
		return p.readExact(r, m.Len())
	}
	if hint <= 0 || hint > p.trusted {
		n, exact := length(r, hint)
		if exact && n <= limit {
			return p.readExact(r, int(n))
		}
		if n < 0 {
			return p.readUnknown(r, limit)
		}
		hint = n
	}
	b := p.Get(int(min(hint, limit, p.trusted)))
	if err := p.fillEmpty(b, r, limit, hint); err != io.EOF {
		b.Release()
		return nil, err
	}
	return b, nil
}

// readUnknown reads a stream of unknown length. The size of its first buffer
// takes the hint's place, so that the end is looked for before it grows.
func (p *Pool) readUnknown(r io.Reader, limit int64) (*Buffer, error) {
	start := p.start.Load()
	b := p.Get(int(min(start, limit)))
	if err := p.fillEmpty(b, r, limit, int64(len(b.mem))); err != io.EOF {
		b.Release()
		return nil, err
	}
	if n := int64(b.end); n > start || n < start/4 {
		p.learn(start, b)
	}
	return b, nil
}

// readExact reads a reader of this package or the standard library that holds
// n bytes in memory: one Read gives them all.
func (p *Pool) readExact(r io.Reader, n int) (*Buffer, error) {
	b := p.Get(n)
	if n == 0 {
		return b, nil
	}
	b.end, _ = r.Read(b.mem[:n])
	if b.end == n {
		return b, nil
	}
	_, err := b.fill(r, b.end, p.maxBuffer, -1)
	if err != io.EOF {
		b.Release()
		return nil, err
	}
	return b, nil
}

// learn lets streams of unknown length start at the size that recent ones
// reached: up at once, down a little in one of 16 reads.
func (p *Pool) learn(start int64, b *Buffer) {
	switch n := int64(b.end); {
	case n > start && start < minTrusted:
		p.start.Store(min(n, minTrusted))
	case n < start/4 && start > minRead && b.lent.lends()%16 == 0:
		p.start.Store(max(start-start/4, minRead))
	}
}

// length is the number of bytes that r will give, or -1. exact: it is certain.
func length(r io.Reader, hint int64) (n int64, exact bool) {
	switch r := r.(type) {
	case *bytes.Reader:
		return int64(r.Len()), true
	case *bytes.Buffer:
		return int64(r.Len()), true
	case *strings.Reader:
		return int64(r.Len()), true
	case *Buffer:
		return int64(r.Len()), true
	case *io.LimitedReader:
		n, exact := length(r.R, hint)
		if most := max(r.N, 0); n < 0 || n > most {
			n = most
		}
		return n, exact
	}
	if hint <= 0 {
		if r, ok := r.(interface{ Len() int }); ok {
			hint = int64(r.Len())
		}
	}
	if hint <= 0 {
		return -1, false
	}
	return hint, false
}

// ReadFrom appends r until io.EOF, and returns the number of bytes. What came
// before an error is kept. Lengths are found as by ReadAll.
func (b *Buffer) ReadFrom(r io.Reader) (int64, error) {
	b.own("ReadFrom")
	if b.err != nil {
		return 0, b.err
	}
	if r == io.Reader(b) {
		return 0, errors.New("bufpool: ReadFrom: a buffer cannot read itself to its end")
	}
	p := b.slot.level.pool
	limit := p.maxBuffer - (b.end - b.start)
	want, exact := length(r, 0)
	room := want
	if !exact {
		room = min(want, p.trusted)
	}
	if room > 0 {
		if err := b.room("ReadFrom", int(min(room, int64(limit)))); err != nil {
			return 0, err
		}
	}
	n, err := b.fill(r, 0, limit, want)
	b.own("ReadFrom: when its reader returns")
	if err == io.EOF {
		err = nil
	}
	return int64(n), err
}

// fillEmpty is fill for the empty buffer of ReadAll: one Read, and when that gave
// just what was wanted, a look for the end in the probe, are the common case.
func (p *Pool) fillEmpty(b *Buffer, r io.Reader, limit, want int64) error {
	if p.offHeap {
		return b.fillGuarded(r, limit, want)
	}
	if int64(len(b.mem)) > limit {
		_, err := b.fill(r, 0, int(limit), want)
		return err
	}
	n, err := r.Read(b.mem)
	if uint(n) > uint(len(b.mem)) {
		return badRead(n, len(b.mem))
	}
	b.end = n
	if err != nil {
		return err
	}
	if int64(n) == want && want+int64(len(b.probe)) <= limit {
		n, err = r.Read(b.probe[:])
		if uint(n) > uint(len(b.probe)) {
			return badRead(n, len(b.probe))
		}
		if n > 0 {
			if _, e := b.Write(b.probe[:n]); e != nil {
				return e
			}
		}
		if err != nil {
			return err
		}
	}
	_, err = b.fill(r, b.end, int(limit), want)
	return err
}

// fillGuarded releases the buffer when r panics: a block outside the Go heap
// must not be forgotten. Any other is left to the collector.
func (b *Buffer) fillGuarded(r io.Reader, limit, want int64) error {
	done := false
	defer func() {
		if !done {
			b.Release()
		}
	}()
	_, err := b.fill(r, 0, int(limit), want)
	done = true
	return err
}

func badRead(n, room int) error {
	return fmt.Errorf("%w: %d of a Read into %d bytes", ErrBadReader, n, room)
}

// fill appends r until an error, which is io.EOF if all went well; got bytes of
// at most limit are there already. want is the number expected, or -1: when just
// that much has come and the memory is full, or at the limit, the next Read goes
// into the probe, since most streams end there and need no larger block.
func (b *Buffer) fill(r io.Reader, got, limit int, want int64) (int, error) {
	for empty := 0; ; {
		p, probing := b.mem[b.end:], false
		if len(p) == 0 && (int64(got) == want || got == limit) {
			p, probing = b.probe[:], true
		} else if len(p) == 0 || len(p) > limit-got {
			var err error
			if p, probing, err = b.window(got, limit, want); err != nil {
				return got, err
			}
		}
		n, err := r.Read(p)
		if uint(n) > uint(len(p)) {
			return got, badRead(n, len(p))
		}
		if !probing {
			b.end += n
		} else if n > 0 {
			if err := b.accept(p[:n], got, limit); err != nil {
				return got, err
			}
		}
		got += n
		if err != nil {
			return got, err
		}
		if n > 0 {
			empty = 0
		} else if empty++; empty == maxEmptyReads {
			return got, io.ErrNoProgress
		}
	}
}

// window is where the next Read goes when the room left is none, or more than
// the limit. At the limit it is the probe.
func (b *Buffer) window(got, limit int, want int64) (p []byte, probing bool, err error) {
	if got == limit {
		return b.probe[:], true, nil
	}
	if b.end == len(b.mem) {
		wish := max(2*len(b.mem), minRead)
		if rest := want - int64(got); rest > 0 {
			wish = min(wish, b.end-b.start+int(min(rest, math.MaxInt/2)))
		}
		old, err := b.makeRoom(1, min(wish, b.end-b.start+limit-got))
		old.Release()
		if err != nil {
			return nil, false, err
		}
	}
	p = b.mem[b.end:]
	return p[:min(len(p), limit-got)], false, nil
}

// accept appends the bytes read into the probe.
func (b *Buffer) accept(p []byte, got, limit int) error {
	if got+len(p) > limit {
		return fmt.Errorf("%w: the stream has more than %d bytes", ErrTooLarge, limit)
	}
	_, err := b.Write(p)
	return err
}

// Copy copies src to dst until io.EOF and returns the number of bytes, like
// [io.Copy], with a buffer of 64 KiB from the pool where dst and src do not
// bring a way of their own.
func (p *Pool) Copy(dst io.Writer, src io.Reader) (int64, error) {
	if _, ok := src.(io.WriterTo); ok {
		return io.Copy(dst, src)
	}
	if _, ok := dst.(io.ReaderFrom); ok {
		return io.Copy(dst, src)
	}
	b := p.Get(copySize)
	defer b.Release()
	return io.CopyBuffer(dst, src, b.mem)
}
