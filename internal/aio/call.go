package aio

import (
	"context"
	"fmt"
)

// call is one Read or ReadMany that waits. Guarded by Reader.mu, but for wake.
type call struct {
	ops  []*op         // its reads by request; nil once a read is settled
	left int           // reads that are not settled
	wake chan struct{} // holds one token: the goroutine that settles the last read sends it
	one  [1]Request    // of a Read

	until          int64 // a Try's deadline, or noDeadline; forAsLongAsItTakes: no Try
	earlier, later *call // in Reader.timed
	timed          bool
}

// newCall takes a call. A Reader has its own: their channels belong to the synctest
// bubble, if any, in which it is used.
func (r *Reader) newCall(until int64) *call {
	c, ok := r.calls.Get().(*call)
	if !ok {
		c = &call{wake: make(chan struct{}, 1)}
	}
	c.until = until
	return c
}

// end gives the call back. No read knows it any more, and wake is empty.
func (r *Reader) end(c *call) {
	clear(c.ops)
	c.ops = c.ops[:0]
	c.one[0] = Request{}
	if cap(c.ops) <= maxDepth {
		r.calls.Put(c)
	}
}

// op is one read, from its call until it is settled. Guarded by Reader.mu while
// it is queued; then by its performer, but for call, req and index.
type op struct {
	prev, next *op // in the queue, or idle
	queued     bool
	call       *call // nil: abandoned
	req        *Request
	index      int // in call.ops

	off   int64
	n     int
	start int64 // when the call began; see Reader.now
	buf   *buffer
	mem   []byte // of buf: n bytes
	done  int    // bytes read so far
	slot  uint32 // of the ring
	run   func() // performs it with a goroutine of its own
}

// keptOps is how many idle ops a Reader keeps beyond its depth.
const keptOps = 1024

func (r *Reader) newOp() *op {
	o := r.idle
	if o == nil {
		o = new(op)
		o.run = func() {
			if c := r.work(o); c != nil {
				c.wake <- struct{}{}
			}
		}
		return o
	}
	r.idle, o.next = o.next, nil
	r.idleOps--
	return o
}

func (r *Reader) freeOp(o *op) {
	if r.idleOps >= r.depth+keptOps {
		return
	}
	*o = op{next: r.idle, run: o.run}
	r.idle = o
	r.idleOps++
}

// enqueue turns requests into queued reads. A request that cannot be read gets its Err.
func (r *Reader) enqueue(c *call, reqs []Request, now int64) {
	for i := range reqs {
		q := &reqs[i]
		q.Buf, q.Err = nil, r.refuse(q)
		if q.Err != nil {
			c.ops = append(c.ops, nil)
			continue
		}
		o := r.newOp()
		o.call, o.req, o.index = c, q, i
		o.off, o.n, o.start = q.Off, q.N, now
		c.ops = append(c.ops, o)
		c.left++
		r.queue.push(o)
	}
}

func (r *Reader) refuse(q *Request) error {
	switch {
	case r.closed:
		return ErrClosed
	case q.Off < 0 || q.Off%r.align != 0:
		return fmt.Errorf("aio: read at %d: want a multiple of %d, 0 or more", q.Off, r.align)
	case q.N < 1 || q.N > maxRead || int64(q.N)%r.align != 0:
		return fmt.Errorf("aio: read of %d bytes: want a multiple of %d from 1 to %d", q.N, r.align, maxRead)
	}
	return nil
}

// await returns when the call's reads are settled, or its context has ended.
func (r *Reader) await(ctx context.Context, c *call) {
	select {
	case <-c.wake:
	case <-ctx.Done():
		r.leave(c, ctx.Err())
	}
}

// leave ends a call before its reads are settled: the queued ones are
// forgotten, and those in flight abandoned.
func (r *Reader) leave(c *call, err error) {
	r.mu.Lock()
	if c.left == 0 {
		r.mu.Unlock()
		<-c.wake // the last read came back first; its token is here or on the way
		return
	}
	r.abandon(c, err)
	r.mu.Unlock()
}

// abandon gives the reads of a call that are not settled an error. The caller holds mu.
func (r *Reader) abandon(c *call, err error) {
	r.untime(c)
	for i, o := range c.ops {
		if o == nil {
			continue
		}
		o.req.Err = err
		if o.queued {
			r.queue.remove(o)
			r.freeOp(o)
		} else {
			o.call, o.req = nil, nil
			r.abandoned++
		}
		c.ops[i] = nil
	}
	c.left = 0
}
