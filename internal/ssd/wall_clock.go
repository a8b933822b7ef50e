package ssd

import "sync/atomic"

// clock is the time in milliseconds since 1970. It is not earlier than the time that
// earlier processes had: a deadline that has passed stays passed. The time by
// which the system's clock was set back is kept, so that it goes on from there, and
// the time between two processes counts.
type clock struct {
	system func() int64
	skew   atomic.Int64 // how far it is ahead of the system's
}

// Now is the time.
func (c *clock) Now() int64 { return c.system() + c.skew.Load() }

// notBefore puts the clock forward to a time, if it is earlier.
func (c *clock) notBefore(t int64) { c.skew.Store(max(c.skew.Load(), t-c.system())) }
