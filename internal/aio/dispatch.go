package aio

import (
	"fmt"
	"io"
	"time"

	"github.com/firncache/firn/bufpool"
)

// A caller that has been alone for so many reads, and does not collect, does the next by
// pread: with one read in flight that is the shorter way, with several it would hold one of
// Go's processors for the time of a read.
const soloReads = 4

type buffer = bufpool.Buffer

// now is nanoseconds on a clock of the Reader's own that never steps.
func (r *Reader) now() int64 { return int64(time.Since(r.opened)) }

// next gives the oldest queued read a slot and a buffer; nil if there is no such
// read, no slot or no memory. The caller holds mu.
func (r *Reader) next() *op {
	o := r.queue.head
	if o == nil || r.inFlight == r.depth || r.memory > 0 && r.inFlight > 0 && r.lent+int64(o.n) > r.memory {
		return nil
	}
	r.queue.remove(o)
	r.inFlight++
	r.lent += int64(o.n)
	o.buf = r.pool.Get(o.n)
	o.mem, _ = o.buf.Extend(o.n) // cannot fail: n is at most maxRead
	return o
}

// takeAlone gives the first read of call c a slot if a pread suits it better than
// the engine's own way, and returns it for the caller to work on. One that may
// leave early gets a goroutine to do that. The caller holds mu.
func (r *Reader) takeAlone(c *call, patient bool) *op {
	if !r.engine.alone(r.inFlight, c.left) || r.queue.head.call != c {
		return nil
	}
	o := r.next()
	if o != nil && !patient {
		go o.run()
		return nil
	}
	return o
}

// launch starts queued reads while there are slots. The caller holds mu, and has
// given it up when launch returns.
func (r *Reader) launch() {
	if r.closed && r.inFlight == 0 {
		r.mu.Unlock() // drained: the engine may be gone
		return
	}
	r.startQueued()
	r.kicks.Add(1)
	r.mu.Unlock()
	r.engine.kick()
	r.endKick()
}

// endKick lets Close go on when the last call is out of the engine.
func (r *Reader) endKick() {
	if r.kicks.Add(-1) > 0 || !r.closing.Load() {
		return
	}
	select {
	case r.kicked <- struct{}{}:
	default:
	}
}

// startQueued gives the engine the reads that may be in flight. The caller holds mu.
func (r *Reader) startQueued() {
	for o := r.next(); o != nil; o = r.next() {
		r.engine.start(o)
	}
}

// settle ends a read that the system has given back, and frees its slot. It
// returns the call if that was its last read: the caller, who holds mu, then
// sends the token when it has given mu up.
func (r *Reader) settle(o *op, err error, now int64) *call {
	r.inFlight--
	r.lent -= int64(o.n)
	r.heard = now
	r.took(now - o.start)
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
		} else {
			r.untime(c)
		}
	}
	r.freeOp(o)
	if r.closed && r.inFlight == 0 {
		close(r.drained) // last: Close does not wait for mu
	}
	return c
}

// took notes how long a read took. The caller holds mu.
func (r *Reader) took(ns int64) { r.usual += (ns - r.usual) / 8 }

// work performs a read by itself. It returns the call whose last read that was,
// if any, and leaves it to the caller to wake it.
func (r *Reader) work(o *op) *call {
	err := r.readAt(o)
	now := r.now()
	r.mu.Lock()
	done := r.settle(o, err, now)
	r.launch()
	return done
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
type preads struct{}

func (preads) start(o *op)         { go o.run() }
func (preads) kick()               {}
func (preads) alone(int, int) bool { return true }
func (preads) collect(*call) bool  { return false }
func (preads) close()              {}
func (preads) name() string        { return "pread" }
func (preads) bytes() int64        { return 0 }
