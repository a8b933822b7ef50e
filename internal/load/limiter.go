package load

import (
	"context"
	"sync/atomic"
)

// limiter lets so many calls of loaders run at a time.
type limiter struct {
	slots chan struct{} // holds one for each call that runs; nil without a limit
}

// slot is a call's place among those that run.
type slot struct {
	free     bool // it needs none: the loader that waits for it has one
	held     bool
	bypassed atomic.Bool   // a loader began to wait for it
	urgent   chan struct{} // closed then; nil without a limit
}

// newLimiter is a limit; 0 is none.
func newLimiter(n int) *limiter {
	l := new(limiter)
	if n > 0 {
		l.slots = make(chan struct{}, n)
	}
	return l
}

// newSlot makes the slot of a call. That of a load that a loader begins is free, so
// that no loader waits for its own slot.
func (l *limiter) newSlot(free bool) slot {
	if l.slots == nil {
		return slot{free: free}
	}
	return slot{free: free, urgent: make(chan struct{})}
}

// bypass lets a call run that waits for a slot: a loader waits for it.
func (s *slot) bypass() {
	if s.urgent != nil && !s.bypassed.Swap(true) {
		close(s.urgent)
	}
}

// acquire waits until a call may run, or for its end.
func (l *limiter) acquire(s *slot, call context.Context) {
	if s.free || s.held {
		return
	}
	if l.slots == nil {
		s.held = true
		return
	}
	select {
	case l.slots <- struct{}{}:
		s.held = true
	case <-s.urgent:
	case <-call.Done():
	}
}

// tryHold reports whether a call may run now, without waiting.
func (l *limiter) tryHold(s *slot) bool {
	if !s.free && !s.held && !s.bypassed.Load() {
		s.held = l.tryAcquire()
		return s.held
	}
	return true
}

// tryAcquire takes a slot for a call to come, if one is free.
func (l *limiter) tryAcquire() bool {
	if l.slots == nil {
		return true
	}
	select {
	case l.slots <- struct{}{}:
		return true
	default:
		return false
	}
}

// release gives a call's slot back, if it has one.
func (l *limiter) release(s *slot) {
	if s.held {
		s.held = false
		l.giveBack()
	}
}

// giveBack gives back a slot that no call has come to use.
func (l *limiter) giveBack() {
	if l.slots != nil {
		<-l.slots
	}
}
