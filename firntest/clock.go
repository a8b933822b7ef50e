package firntest

import (
	"sync"
	"time"
)

// Clock is a time that stands still until it is turned. It is safe for concurrent use.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock returns a clock that shows the present.
func NewClock() *Clock { return &Clock{now: time.Now()} }

// Now is what the clock shows: firn.Options.Clock.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance turns the clock on; a negative time turns it back.
func (c *Clock) Advance(by time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(by)
}
