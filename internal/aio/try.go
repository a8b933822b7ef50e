package aio

import (
	"context"
	"math"
	"sync/atomic"
	"time"

	"github.com/firncache/firn/bufpool"
)

// Deadlines that are none.
const (
	noDeadline         = math.MaxInt64 - 1
	forAsLongAsItTakes = math.MaxInt64 // of calls other than Try
)

// limits apply to Try and TryMany.
type limits struct {
	most    int32 // calls at once
	timeout int64 // ns
	silence int64 // ns
	callers atomic.Int32
}

func (cfg *Config) limits() limits {
	return limits{most: int32(min(cfg.Callers, math.MaxInt32-1)), timeout: int64(cfg.Timeout), silence: int64(cfg.Silence)}
}

// Deadline is when a Try that begins now gives up, on a clock of the Reader's own.
// Several may share it, one after the other.
func (r *Reader) Deadline() int64 {
	if r.limits.timeout == 0 {
		return noDeadline
	}
	return r.now() + r.limits.timeout
}

// Try is Read for those who can do without the answer: if the disk is slow. It
// ends with ErrTimeout at a deadline, and with ErrBusy at once while too many
// callers wait, or the disk does nothing.
func (r *Reader) Try(ctx context.Context, until, off int64, n int) (*bufpool.Buffer, error) {
	if !r.limits.enter() {
		r.counters.refused.Add(1)
		return nil, ErrBusy
	}
	defer r.limits.leave()
	return r.read(ctx, until, off, n)
}

// TryMany is ReadMany as Try is Read. It counts as one caller.
func (r *Reader) TryMany(ctx context.Context, until int64, reqs []Request) {
	if len(reqs) == 0 {
		return
	}
	if !r.limits.enter() {
		r.counters.refuse(reqs, ErrBusy)
		return
	}
	defer r.limits.leave()
	c := r.newCall(until)
	r.perform(ctx, c, reqs)
	r.end(c)
}

// enter counts a caller, unless there are too many.
func (l *limits) enter() bool {
	if l.most == 0 || l.callers.Add(1) <= l.most {
		return true
	}
	l.callers.Add(-1)
	return false
}

func (l *limits) leave() {
	if l.most != 0 {
		l.callers.Add(-1)
	}
}

// refuseCall is why a call is not begun. The caller holds mu.
func (r *Reader) refuseCall(c *call, now int64) error {
	switch {
	case c.until == forAsLongAsItTakes || r.closed:
		return nil
	case c.until <= now:
		return ErrTimeout
	case !r.silent(now):
		return nil
	case r.inFlight == r.depth || now-r.probed < r.limits.silence:
		return ErrBusy
	}
	r.probed = now
	return nil
}

// silent reports whether the disk has reads and has given none of them back for a
// while. A read that it gives back at last ends that. The caller holds mu.
func (r *Reader) silent(now int64) bool {
	return r.limits.silence > 0 && r.inFlight > 0 && now-r.heard >= r.limits.silence
}

// timed is the calls that wait until a deadline at most, the soonest first. All
// have the same time from their beginning, so that a new one is the last, or close
// to it; and one timer serves for all, which is set when there is none. So a call
// that ends in time costs no timer. Guarded by Reader.mu.
type timed struct {
	head, tail *call
	timer      *time.Timer
	set        int64 // for when; 0: it is not
}

// time makes a call end at its deadline. The caller holds mu.
func (r *Reader) time(c *call, now int64) {
	if c.until >= noDeadline {
		return
	}
	t := &r.timed
	before := t.tail
	for before != nil && before.until > c.until {
		before = before.earlier
	}
	c.timed, c.earlier = true, before
	if before == nil {
		c.later, t.head = t.head, c
	} else {
		c.later, before.later = before.later, c
	}
	if c.later == nil {
		t.tail = c
	} else {
		c.later.earlier = c
	}
	if t.set == 0 || c.until < t.set {
		r.setTimer(c.until, now)
	}
}

func (r *Reader) setTimer(until, now int64) {
	t := &r.timed
	t.set = until
	if t.timer == nil {
		t.timer = time.AfterFunc(time.Duration(until-now), r.expire)
	} else {
		t.timer.Reset(time.Duration(until - now))
	}
}

// untime ends the waiting for a call's deadline. The caller holds mu.
func (r *Reader) untime(c *call) {
	if !c.timed {
		return
	}
	t := &r.timed
	if c.earlier == nil {
		t.head = c.later
	} else {
		c.earlier.later = c.later
	}
	if c.later == nil {
		t.tail = c.earlier
	} else {
		c.later.earlier = c.earlier
	}
	c.earlier, c.later, c.timed = nil, nil, false
}

// expire ends the calls whose deadlines are over.
func (r *Reader) expire() {
	var over []*call
	r.mu.Lock()
	now := r.now()
	for c := r.timed.head; c != nil && c.until <= now; c = r.timed.head {
		r.counters.timeouts.Add(uint64(c.left))
		r.abandon(c, ErrTimeout)
		over = append(over, c)
		r.probed = now // if the disk is silent, who calls next would learn no more
	}
	r.timed.set = 0
	if next := r.timed.head; next != nil {
		r.setTimer(next.until, now)
	}
	r.mu.Unlock()
	for _, c := range over {
		c.wake <- struct{}{}
	}
}
