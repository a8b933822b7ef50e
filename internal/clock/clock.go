// Package clock keeps a coarse time: a copy of an exact one that costs a load to
// read.
package clock

import (
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// Tick is how often a coarse time advances.
const Tick = 50 * time.Millisecond

// Unknown is a coarse time that is not kept. It is so late that a goroutine that
// compares with it has to read the exact one.
const Unknown = math.MaxInt64 / 2

// Millis is the process's monotonic time in milliseconds, above 0. The time in which the machine
// was suspended counts, from the next tick of any coarse time on.
func Millis() int64 { return time.Since(start).Milliseconds() + suspended.total.Load() }

var start = Aligned(time.Now()).Add(-time.Second)

// Aligned is the last even millisecond of Unix time. A time that counts from there differs from Unix
// time by an even number of milliseconds: so all processes of a machine exchange deadlines unchanged,
// and the lowest bit, which has a meaning, stays.
func Aligned(t time.Time) time.Time {
	return t.Add(-time.Duration(t.UnixNano() % int64(2*time.Millisecond)))
}

// InBubble reports whether the caller is in a bubble of testing/synctest, where
// Millis makes no sense: time begins again there, in the year 2000.
func InBubble() bool {
	ms := Millis()
	return ms <= 0 || ms > 20*365*24*time.Hour.Milliseconds()
}

// Process is the coarse copy of Millis.
var Process = New(Millis)

// Coarse is a coarse time. As long as it has users, a goroutine keeps it that
// does nothing else: no lock, no function of a user and no work of a cache can
// hold it up.
type Coarse struct {
	Time atomic.Int64 // or Unknown

	now        func() int64
	mu         sync.Mutex
	users      int
	quit, done chan struct{} // of the goroutine
}

// New makes a coarse copy of now, which has no users.
func New(now func() int64) *Coarse {
	c := &Coarse{now: now}
	c.Time.Store(Unknown)
	return c
}

// Join adds a user, who calls Leave in the end. When it returns the time is kept.
func (c *Coarse) Join() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.users++; c.users == 1 {
		suspended.note()
		c.Time.Store(c.now())
		c.quit, c.done = make(chan struct{}), make(chan struct{})
		go c.keep()
	}
}

// Leave takes a user away. With the last one the goroutine has ended when it
// returns.
func (c *Coarse) Leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.users--; c.users == 0 {
		close(c.quit)
		<-c.done
		c.Time.Store(Unknown)
	}
}

func (c *Coarse) keep() {
	defer close(c.done)
	ticker := time.NewTicker(Tick)
	defer ticker.Stop()
	for {
		select {
		case <-c.quit:
			return
		case <-ticker.C:
			suspended.note()
			c.Time.Store(c.now())
		}
	}
}
