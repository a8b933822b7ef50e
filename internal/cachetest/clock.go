package cachetest

import (
	"sync/atomic"
	"time"
)

// Clock is a time that moves only by Advance.
type Clock struct{ nanos atomic.Int64 }

// Now is the clock's time.
func (c *Clock) Now() time.Time { return epoch.Add(time.Duration(c.nanos.Load())) }

// Millis is the clock's time in milliseconds, above 0.
func (c *Clock) Millis() int64 { return 1000 + c.nanos.Load()/int64(time.Millisecond) }

// Advance moves the clock.
func (c *Clock) Advance(d time.Duration) { c.nanos.Add(int64(d)) }

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
