package aio

import (
	"fmt"
	"io"
	"time"

	"github.com/firncache/firn/bufpool"
)

type buffer = bufpool.Buffer

// now is nanoseconds on a clock of the Reader's own that never steps.
func (r *Reader) now() int64 { return int64(time.Since(r.epoch)) }

// next gives the oldest queued read a slot and a buffer; nil if there is none.
// The caller holds mu, and has seen that a slot is free.
func (r *Reader) next() *op {
	o := r.queue.head
	if o == nil {
		return nil
	}
	r.queue.remove(o)
	r.inFlight++
	o.buf = r.pool.Get(o.n)
	o.mem, _ = o.buf.Extend(o.n) // cannot fail: n is at most maxRead
	return o
}

// admit starts queued reads while there are slots. The caller holds mu.
func (r *Reader) admit() {
	for r.inFlight < r.depth && r.queue.head != nil {
		r.engine.start(r.next())
	}
}

// settle ends a read that the system has given back, and frees its slot. It
// returns the call if that was its last read: the caller then sends the token,
// after it has given up mu, which it holds now.
func (r *Reader) settle(o *op, err error, now int64) *call {
	r.inFlight--
	if r.closed && r.inFlight == 0 {
		close(r.drained)
	}
	r.counters.read(o, err, now)
	c := o.call
	if c == nil {
		r.abandoned--
	}
	if c == nil || err != nil {
		o.buf.Release()
		o.buf = nil
	}
	if c != nil {
		o.req.Buf, o.req.Err = o.buf, err
		c.ops[o.index] = nil
		c.left--
		if c.left > 0 {
			c = nil
		}
	}
	r.freeOp(o)
	return c
}

// work performs a read, and then those that waited for its slot.
func (r *Reader) work(o *op) {
	for o != nil {
		err := r.readAt(o)
		now := r.now()
		r.mu.Lock()
		done := r.settle(o, err, now)
		o = r.next()
		r.mu.Unlock()
		if done != nil {
			done.wake <- struct{}{}
		}
	}
}

// readHere performs a read of the caller's own call c, and reports whether the
// call has to wait for others.
func (r *Reader) readHere(o *op, c *call) (wait bool) {
	err := r.readAt(o)
	now := r.now()
	r.mu.Lock()
	done := r.settle(o, err, now)
	r.admit()
	r.mu.Unlock()
	r.engine.kick()
	return done != c
}

// readAt reads through the file's own method.
func (r *Reader) readAt(o *op) error {
	n, err := r.file.ReadAt(o.mem, o.off)
	if n == o.n {
		return nil // io.ReaderAt may return io.EOF beside the last bytes
	}
	if err == io.EOF || err == nil {
		err = io.ErrUnexpectedEOF
	}
	return o.failed(err)
}

func (o *op) failed(err error) error {
	return fmt.Errorf("aio: read of %d bytes at %d: %w", o.n, o.off, err)
}

// preads is the engine of goroutines that call File.ReadAt.
type preads struct{ r *Reader }

func (p preads) start(o *op)          { go o.run() }
func (p preads) kick()                {}
func (p preads) direct(int, int) bool { return true }
func (p preads) close()               {}
func (p preads) name() string         { return "pread" }
func (p preads) bytes() int64         { return 0 }
