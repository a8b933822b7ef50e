package users

import (
	"sync"
	"sync/atomic"
	"time"
)

// A counter's value: the second in which it ends, and the count.
func counterValue(second, count uint32) uint64 { return uint64(second)<<32 | uint64(count) }

func countOf(value uint64) uint64 { return value & (1<<32 - 1) }

// nextCount is the next value of a counter, and the time that it has left. Who
// finds none, or one that has ended, begins a new one.
func (e *env) nextCount(old uint64, found bool) (value uint64, left time.Duration) {
	now := uint32(e.clock.NowNano() / int64(time.Second))
	if ends := uint32(old >> 32); found && ends > now {
		return old + 1, time.Duration(ends-now) * time.Second
	}
	return counterValue(now+uint32(e.w.TTL/time.Second), 1), e.w.TTL
}

// stripes are the locks of a program that reads, changes and writes an entry of a
// cache that has no call for that.
type stripes [256]struct {
	sync.Mutex
	_ [64 - 8]byte
}

// objectCounter counts behind a pointer, as a program does whose cache hands out
// what it holds. The cache ends a counter by its time to live.
type objectCounter struct {
	*objectStore[string, *atomic.Uint64]
}

func (c objectCounter) do(entries []uint32, n *counts) {
	e := entries[0]
	counter, ok := c.c.get(c.keys.text(e))
	n.read(ok, true)
	if !ok {
		counter = c.begin(e, n)
	}
	counter.Add(1)
}

// begin stores a counter for the entry, unless another goroutine has done so. One
// that a cache stores only later would be stored twice.
func (c objectCounter) begin(e uint32, n *counts) *atomic.Uint64 {
	lock := &c.stripes[e%uint32(len(c.stripes))]
	lock.Lock()
	defer lock.Unlock()
	if counter, ok := c.c.get(c.keys.text(e)); ok {
		return counter
	}
	counter := new(atomic.Uint64)
	n.wrote(c.c.set(c.own(e), counter))
	if later, ok := c.c.(interface{ settle() }); ok && c.filled {
		later.settle()
	}
	return counter
}
