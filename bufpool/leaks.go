package bufpool

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
)

// maxLost bounds the list of forgotten buffers; Stats counts them all.
const maxLost = 1000

// Leak is a buffer that was not released.
type Leak struct {
	Cap        int    // bytes of its memory
	References int    // how many are left
	Forgotten  bool   // nothing points to it any more: it cannot be released
	Stack      string // who took it
	serial     uint64
}

func (l Leak) String() string {
	return fmt.Sprintf("%d-byte buffer with %d references (forgotten: %t), taken at\n%s", l.Cap, l.References, l.Forgotten, l.Stack)
}

// lostList is the forgotten buffers of a checked pool.
type lostList struct {
	mu    sync.Mutex
	leaks []Leak
}

func (l *lostList) add(sl *slot) {
	if sl.trace == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.leaks) < maxLost {
		leak := sl.leak(sl.state.get())
		leak.Forgotten = true
		l.leaks = append(l.leaks, leak)
	}
}

func (sl *slot) leak(s state) Leak {
	t := sl.trace
	return Leak{Cap: sl.size, References: s.refs(), Stack: stack(t.taken), serial: t.serial}
}

// Leaks lists the buffers of a checked pool that are lent at this moment, and up
// to 1,000 that were forgotten, oldest first. It is exact while nobody takes or
// releases buffers; for an unchecked pool it is nil.
func (p *Pool) Leaks() []Leak {
	if !p.checked {
		return nil
	}
	p.lost.mu.Lock()
	leaks := slices.Clone(p.lost.leaks)
	p.lost.mu.Unlock()
	for l := range p.all() {
		leaks = l.leaks(leaks)
	}
	slices.SortFunc(leaks, func(a, b Leak) int { return cmp.Compare(a.serial, b.serial) })
	return leaks
}

func (l *level) leaks(to []Leak) []Leak {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, sl := range l.slots {
		if s := sl.state.get(); s.lent() {
			to = append(to, sl.leak(s))
		}
	}
	return to
}

// TB is the part of testing.TB that FailOnLeak needs.
type TB interface {
	Helper()
	Cleanup(func())
	Errorf(format string, args ...any)
}

// FailOnLeak fails the test when it ends while buffers are lent that it, or
// anything beside it, took from p after this call. A checked pool names the
// places that took them; an unchecked one gives their number.
func FailOnLeak(t TB, p *Pool) {
	t.Helper()
	before, since := p.lentNow(), p.serial.Load()
	t.Cleanup(func() {
		t.Helper()
		if !p.checked {
			if n := p.lentNow() - before; n > 0 {
				t.Errorf("bufpool: %d buffers were not released: want 0; Options.Checked tells where they were taken", n)
			}
			return
		}
		for _, leak := range p.Leaks() {
			if leak.serial > since {
				t.Errorf("bufpool: not released: %v", leak)
			}
		}
	})
}

// lentNow counts the buffers that were taken and not released, forgotten ones
// included.
func (p *Pool) lentNow() int {
	n := 0
	for _, s := range p.Stats() {
		n += s.InUse + int(s.Leaked)
	}
	return n
}
