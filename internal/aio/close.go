package aio

import (
	"fmt"
	"time"
)

// Close ends the Reader: reads that are queued fail with ErrClosed, and those in
// flight are waited for, up to Config.Patience. After that the error is
// ErrStuck, and their calls go on waiting as their contexts tell them; what they
// hold, their buffers above all, is not freed before the system gives them back.
func (r *Reader) Close() error {
	if !r.closing.Swap(true) {
		r.closeErr = r.close()
		close(r.ended)
	}
	<-r.ended // and no sync.Once: in a synctest bubble no time passes while somebody waits for a lock
	return r.closeErr
}

func (r *Reader) close() error {
	r.mu.Lock()
	r.closed = true
	done := r.refuseQueued()
	if r.inFlight == 0 {
		close(r.drained)
	}
	r.mu.Unlock()
	for _, c := range done {
		c.wake <- struct{}{}
	}
	patience := time.NewTimer(r.patience)
	defer patience.Stop()
	select {
	case <-r.drained:
		r.free()
		return nil
	case <-patience.C:
	}
	go func() {
		<-r.drained
		r.free()
	}()
	r.mu.Lock()
	defer r.mu.Unlock()
	return fmt.Errorf("%w within %v: %d in flight", ErrStuck, r.patience, r.inFlight)
}

// free gives up the engine's resources, as soon as nobody is in there any more.
func (r *Reader) free() {
	for r.kicks.Load() > 0 {
		<-r.kicked // and no sleep: in a synctest bubble whose test is over no time passes
	}
	r.engine.close()
}

// refuseQueued settles the queued reads, and returns the calls to wake.
func (r *Reader) refuseQueued() []*call {
	var done []*call
	for o := r.queue.head; o != nil; o = r.queue.head {
		c := o.call
		o.req.Err = ErrClosed
		c.ops[o.index] = nil
		if c.left--; c.left == 0 {
			r.untime(c)
			done = append(done, c)
		}
		r.queue.remove(o)
		r.freeOp(o)
	}
	return done
}
