package bufpool

import (
	"fmt"
	"io"
)

// Buffer is a lent block: bytes to append to at its end and to read from its
// start, as in [bytes.Buffer]. It comes from Get, ReadAll or ReadAllN, and goes
// back with Release. The zero Buffer is of no use.
//
// Every method but Bytes, String, Clone, Len, Cap, Err, Retain and Release needs
// the only reference, and panics when there are others.
type Buffer struct {
	mem        []byte // of block; its length and capacity are the size of the buffer
	start, end int    // mem[start:end] is unread
	slot       *slot  // of block
	lent       state  // slot.state now, or last, while this is the only reference
	block      *block
	err        error  // from Get; takes the place of the memory
	trace      *trace // checked pools only
	probe      [16]byte
}

func newHandle(blk *block, mem []byte) *Buffer {
	return &Buffer{mem: mem, slot: blk.slot, lent: blk.slot.state.get() + oneRef, block: blk}
}

// own panics unless the caller holds the only reference.
func (b *Buffer) own(method string) {
	if b.slot.state.get() != b.lent {
		b.misused(method)
	}
}

// live panics unless the buffer is lent.
func (b *Buffer) live(method string) {
	if s := b.slot.state.get(); s != b.lent && !b.shared(s) {
		b.misused(method)
	}
}

// shared reports whether s is this handle's lend with more than one reference.
func (b *Buffer) shared(s state) bool { return s.lent() && s.lends() == b.lent.lends() }

// Bytes returns the unread bytes, valid until the buffer is changed or the
// caller's reference released. Its capacity ends with the buffer's own memory.
func (b *Buffer) Bytes() []byte {
	b.live("Bytes")
	return b.mem[b.start:b.end]
}

// String returns a copy of the unread bytes, which outlives the buffer. That of a
// nil Buffer is "<nil>".
func (b *Buffer) String() string {
	if b == nil {
		return "<nil>"
	}
	b.live("String")
	return string(b.mem[b.start:b.end])
}

// Clone lends a buffer of the same pool with a copy of the unread bytes, to be
// released once. It may be changed where b is shared.
func (b *Buffer) Clone() *Buffer {
	b.live("Clone")
	unread := b.mem[b.start:b.end]
	c := b.slot.level.pool.Get(len(unread))
	c.end, c.err = copy(c.mem, unread), b.err
	return c
}

// Len is the number of unread bytes.
func (b *Buffer) Len() int {
	b.live("Len")
	return b.end - b.start
}

// Cap is the number of bytes the buffer's memory holds.
func (b *Buffer) Cap() int {
	b.live("Cap")
	return len(b.mem)
}

// Err is nil, or says why Get could not provide the capacity it was asked for.
func (b *Buffer) Err() error {
	b.live("Err")
	return b.err
}

// Reset makes the buffer empty; it keeps its memory.
func (b *Buffer) Reset() {
	b.own("Reset")
	b.start, b.end = 0, 0
}

// Truncate keeps the first n unread bytes. An n below zero or above Len changes
// nothing and returns an error.
func (b *Buffer) Truncate(n int) error {
	b.own("Truncate")
	if n < 0 || n > b.end-b.start {
		return rangeError("Truncate", n, b.end-b.start)
	}
	b.end = b.start + n
	return nil
}

// Grow makes room for n more bytes: the buffer moves to another block, of a larger level
// unless what was read leaves room enough, and its old block becomes idle. Slices taken before
// are invalid afterwards. An n that is negative or leads beyond
// Options.MaxBuffer changes nothing and returns an error.
func (b *Buffer) Grow(n int) error {
	b.own("Grow")
	if uint(n) <= uint(len(b.mem)-b.end) {
		return b.err
	}
	old, err := b.makeRoom(n, 0)
	old.Release()
	return err
}

// Extend lengthens the buffer by n bytes and returns them for the caller to
// fill, without clearing them. Errors are those of Grow.
func (b *Buffer) Extend(n int) ([]byte, error) {
	if err := b.Grow(n); err != nil {
		return nil, err
	}
	b.end += n
	return b.mem[b.end-n : b.end : b.end], nil
}

// Write appends p, which may be a part of the buffer itself. The error is
// ErrTooLarge, and then nothing was written.
func (b *Buffer) Write(p []byte) (int, error) {
	b.own("Write")
	if len(p) <= len(b.mem)-b.end {
		b.end += copy(b.mem[b.end:], p)
		return len(p), b.err
	}
	old, err := b.makeRoom(len(p), 2*len(b.mem))
	if err != nil {
		return 0, err
	}
	b.end += copy(b.mem[b.end:], p)
	old.Release() // not before the copy: p may lie in it
	return len(p), nil
}

// WriteString is Write of a string.
func (b *Buffer) WriteString(s string) (int, error) {
	if err := b.room("WriteString", len(s)); err != nil {
		return 0, err
	}
	b.end += copy(b.mem[b.end:], s)
	return len(s), nil
}

// WriteByte appends one byte. The error is ErrTooLarge.
func (b *Buffer) WriteByte(c byte) error {
	if err := b.room("WriteByte", 1); err != nil {
		return err
	}
	b.mem[b.end] = c
	b.end++
	return nil
}

// room makes room for n more bytes, at least doubling when it has to move.
func (b *Buffer) room(method string, n int) error {
	b.own(method)
	if n <= len(b.mem)-b.end {
		return b.err
	}
	old, err := b.makeRoom(n, 2*len(b.mem))
	old.Release()
	return err
}

// makeRoom is the slow path of all that appends. It moves to another block, of at
// least wish bytes where this one would not suffice without what was read, and returns a
// handle for the block that it left, which the caller releases.
func (b *Buffer) makeRoom(n, wish int) (old *Buffer, err error) {
	if b.err != nil {
		return nil, b.err
	}
	unread := b.end - b.start
	p := b.slot.level.pool
	if n < 0 {
		return nil, p.checkSize(n)
	}
	if n > p.maxBuffer-unread {
		return nil, fmt.Errorf("%w: %d bytes after %d: want at most Options.MaxBuffer, %d", ErrTooLarge, n, unread, p.maxBuffer)
	}
	if unread+n <= len(b.mem) && b.start >= unread {
		wish = 0 // another block of this size will do; not this one: what is written may lie in it
	} else {
		b.slot.level.grows.Add(1)
	}
	old = p.Get(max(unread+n, min(wish, p.maxBuffer)))
	copy(old.mem, b.mem[b.start:b.end])
	b.swap(old)
	b.start, b.end = 0, unread
	return old, nil
}

// swap exchanges the blocks of two handles that each have the only reference.
func (b *Buffer) swap(o *Buffer) {
	b.mem, o.mem = o.mem, b.mem
	b.slot, o.slot = o.slot, b.slot
	b.lent, o.lent = o.lent, b.lent
	b.block, o.block = o.block, b.block
	b.slot.trace, o.slot.trace = o.slot.trace, b.slot.trace
}

// Read takes up to len(p) bytes from the front. At the end it returns io.EOF,
// and the whole memory is free again for writing.
func (b *Buffer) Read(p []byte) (int, error) {
	b.own("Read")
	if b.start == b.end {
		b.start, b.end = 0, 0
		if len(p) == 0 {
			return 0, nil
		}
		return 0, io.EOF
	}
	n := copy(p, b.mem[b.start:b.end])
	b.start += n
	return n, nil
}

// Next takes n bytes from the front and returns them, or all if there are fewer.
// They are valid until the buffer is changed, reads apart, or released. An n below zero
// panics.
func (b *Buffer) Next(n int) []byte {
	b.own("Next")
	if n < 0 {
		panic(fmt.Sprintf("bufpool: Next(%d): want 0 or more", n))
	}
	from := b.start
	b.start += min(n, b.end-from)
	return b.mem[from:b.start:b.start]
}

// ReadByte takes one byte from the front, or returns io.EOF.
func (b *Buffer) ReadByte() (byte, error) {
	var c [1]byte
	_, err := b.Read(c[:])
	return c[0], err
}

// WriteTo writes the unread bytes to w, and takes from the front what w
// accepted. An error is w's, or io.ErrShortWrite. To write a shared buffer,
// pass its Bytes to w.
func (b *Buffer) WriteTo(w io.Writer) (int64, error) {
	b.own("WriteTo")
	unread := b.end - b.start
	if unread == 0 {
		return 0, nil
	}
	n, err := w.Write(b.mem[b.start:b.end:b.end])
	b.own("WriteTo: when its writer returns")
	if n < 0 || n > unread {
		return 0, rangeError("WriteTo: writer returned", n, unread)
	}
	b.start += n
	if err == nil && n < unread {
		err = io.ErrShortWrite
	}
	return int64(n), err
}
