package ram

import (
	"math"
	"sync/atomic"
)

// slack is how far, in milliseconds, the coarse time may lag behind.
const slack = 250

// alwaysExact is a coarse time so late that every check asks for the exact one.
const alwaysExact = math.MaxInt64 - slack

// clock tells whether a deadline has passed, mostly without asking for the
// time, which costs more than the rest of a Get. Deadlines are in milliseconds
// and never 0.
type clock struct {
	now    func() int64 // the exact time
	coarse atomic.Int64 // a recent time, kept by the janitor
}

// near reports whether a deadline may have passed: only the exact time can tell.
func (c *clock) near(deadline int64) bool { return deadline <= c.coarse.Load()+slack }

// expired reports whether a deadline has passed.
func (c *clock) expired(deadline int64) bool { return c.near(deadline) && deadline <= c.now() }
