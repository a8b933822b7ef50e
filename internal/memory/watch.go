package memory

import (
	"math"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"
)

// Cache is a cache whose budget follows the memory that is free.
type Cache interface {
	// State is the cache's memory. It reports false when there is no cache any more.
	State() (State, bool)
	// SetBudget changes the budget, and returns when the cache holds no more.
	SetBudget(bytes int64)
}

// Watcher looks at the memory for all caches that have joined, once a second, and ten
// times a second while it is tight. Its goroutine runs while there are any.
type Watcher struct {
	Usage  func() Usage
	Growth func() int64  // what Go's heap will take before its next collection ends
	Calm   time.Duration // for how long nothing must be tight before budgets grow

	mu     sync.Mutex
	caches map[Cache]*Controller
	stop   chan struct{}
}

// Process is the watcher of the process.
var Process = &Watcher{Usage: Machine.Usage, Growth: heapGrowth, Calm: time.Minute}

// Join adds a cache.
func (w *Watcher) Join(c Cache) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.caches == nil {
		w.caches = map[Cache]*Controller{}
	}
	w.caches[c] = &Controller{Calm: w.Calm}
	if len(w.caches) == 1 {
		w.stop = make(chan struct{})
		go w.run(w.stop)
	}
}

// Leave removes a cache. SetBudget may be under way still.
func (w *Watcher) Leave(c Cache) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.leave(c)
}

// leave is Leave with the lock held.
func (w *Watcher) leave(c Cache) {
	if w.caches[c] == nil {
		return
	}
	delete(w.caches, c)
	if len(w.caches) == 0 {
		close(w.stop)
	}
}

// run looks until stop is closed.
func (w *Watcher) run(stop <-chan struct{}) {
	last, before := time.Now(), w.Usage()
	for next := time.Duration(0); ; {
		select {
		case <-stop:
			return
		case <-time.After(next):
		}
		now, u := time.Now(), w.Usage()
		if u.Limit == 0 {
			next = time.Minute
			continue
		}
		passed := now.Sub(last)
		s := NewSample(u, w.Growth(), u.Stalled-before.Stalled, passed)
		w.look(s, passed)
		last, before, next = now, u, time.Second
		if s.tight() {
			next = time.Second / 10
		}
	}
}

// look sets the budgets of all caches. What is missing they give by what they hold, and
// what is free they share by what they may hold.
func (w *Watcher) look(s Sample, passed time.Duration) {
	var total float64
	weight := func(of State) float64 {
		if s.Free < 0 {
			return float64(of.Resident)
		}
		return float64(of.Most)
	}
	w.mu.Lock()
	states, budgets := map[Cache]State{}, map[Cache]int64{}
	for c := range w.caches {
		if of, ok := c.State(); ok {
			states[c] = of
			total += weight(of)
		} else {
			w.leave(c)
		}
	}
	for c, of := range states {
		budgets[c] = w.caches[c].Next(s, passed, of, weight(of)/max(total, 1))
	}
	w.mu.Unlock()
	for c, budget := range budgets {
		if budget != states[c].Budget {
			c.SetBudget(budget)
		}
	}
}

// heapGrowth is what Go's heap will take beyond what it has, until it reaches its goal.
func heapGrowth() int64 {
	read := []metrics.Sample{
		{Name: "/gc/heap/goal:bytes"},
		{Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/memory/classes/heap/unused:bytes"},
		{Name: "/memory/classes/heap/free:bytes"},
	}
	metrics.Read(read)
	goal := min(read[0].Value.Uint64(), math.MaxInt64)
	has := read[1].Value.Uint64() + read[2].Value.Uint64() + read[3].Value.Uint64()
	return max(min(int64(goal), debug.SetMemoryLimit(-1))-int64(has), 0)
}
