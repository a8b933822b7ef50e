package load

import (
	"sync"
	"sync/atomic"
	"time"
)

// alarm is the timer of all hard timeouts of a Group. A timer for each call would be three
// allocations. As every call has the same time, one that begins later ends later: the alarm is
// set by a call that finds it unset, and then for the earliest of those under way.
type alarm struct {
	isSet atomic.Bool // for no later than any call ends that began before
	mu    sync.Mutex  // of the rest; a leaf
	at    time.Time   // zero: it is not set
	timer *time.Timer
}

// set has ring called at a moment, or before: always the same function.
func (a *alarm) set(at time.Time, ring func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case !a.at.IsZero() && !at.Before(a.at):
		return
	case a.timer == nil:
		a.timer = time.AfterFunc(time.Until(at), ring)
	default:
		a.timer.Reset(time.Until(at))
	}
	a.at = at
	a.isSet.Store(true)
}

// rang unsets the alarm. A call that begins from here on sets it again.
func (a *alarm) rang() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.at = time.Time{}
	a.isSet.Store(false)
}
