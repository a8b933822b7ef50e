package ssd

import (
	"sync/atomic"

	"github.com/firncache/firn/internal/ssd/format"
)

// clock is the time of the cache, in milliseconds since 1970, for both of its tiers. It is
// not earlier than the time that earlier processes had: a deadline that has passed stays
// passed. The time by which the system's clock was set back is kept, so that it goes on
// from there, and the time between two processes counts. After Start nothing sets it.
type clock struct {
	system  func() int64
	machine func() int64 // the machine's time since its start, 0 if it is not known
	skew    atomic.Int64 // how far it is ahead of the system's
}

// Now is the time, above 0.
func (c *clock) Now() int64 { return max(c.system()+c.skew.Load(), 1) }

// goOn has the clock go on from that of a process which was killed, as its memory has it.
func (c *clock) goOn(h *format.MemoryHead) {
	c.notBefore(h.Now.Load())
	if started := h.Started.Load(); started != 0 {
		c.notBefore(started + c.machine())
	}
}

// started is when the machine was started, by this clock; 0 if that is not known.
func (c *clock) started() int64 {
	if up := c.machine(); up != 0 {
		return c.Now() - up
	}
	return 0
}

// notBefore puts the clock forward to a time, if it is earlier.
func (c *clock) notBefore(t int64) { c.skew.Store(max(c.skew.Load(), t-c.system())) }
