package typed

import (
	"errors"
	"math/bits"
	"runtime"
	"sync/atomic"

	"github.com/firncache/firn/internal/local"
	"github.com/firncache/firn/internal/offheap"
)

// Counters count calls as internal/ram counts reads: without an atomic operation, in
// stripes that goroutines which run at once seldom share; so they are exact for one
// goroutine, and a little low for many. A namespace begins with one stripe, of its own, and
// has them all once that has counted a few thousand: most of a hundred thousand namespaces
// never need them, and a stripe takes a cache line.
type Counters struct {
	first   counts
	stripes atomic.Pointer[[]counterStripe] // nil at first

	// What takes longer than an atomic operation is counted with one.
	Mismatches, DecodeErrors, Loads, LoadErrors atomic.Uint64
	FrontHits                                   atomic.Uint64 // of fronts that are gone
}

type counts struct{ hits, misses, sets, deletes atomic.Uint64 }

type counterStripe struct {
	counts
	_ [32]byte
}

const (
	maxCounterStripes = 64
	countsOfOne       = 4096 // a power of two, from which one stripe is too few
)

// mask is one less than the number of stripes: twice as many as goroutines run at once.
var mask = uintptr(min(1<<bits.Len(uint(2*runtime.GOMAXPROCS(0)-1)), maxCounterStripes) - 1)

// stripe is where the goroutine counts.
func (c *Counters) stripe() *counts {
	if all := c.stripes.Load(); all != nil {
		return &(*all)[offheap.Stripe()&mask].counts
	}
	return c.only()
}

// only is the one stripe, until it has counted enough for all of them to be made.
func (c *Counters) only() *counts {
	s := &c.first
	if s.hits.Load()|s.misses.Load()|s.sets.Load() >= countsOfOne {
		all := make([]counterStripe, mask+1)
		c.stripes.CompareAndSwap(nil, &all)
	}
	return s
}

// Read counts a lookup.
func (c *Counters) Read(hit bool) {
	s := c.stripe()
	if hit {
		add(&s.hits, 1)
	} else {
		add(&s.misses, 1)
	}
}

// ReadMulti counts the lookups of a batch.
func (c *Counters) ReadMulti(hits, misses int) {
	s := c.stripe()
	add(&s.hits, hits)
	add(&s.misses, misses)
}

// Set counts values that were stored.
func (c *Counters) Set(n int) { add(&c.stripe().sets, n) }

// Delete counts keys that were deleted.
func (c *Counters) Delete(n int) { add(&c.stripe().deletes, n) }

// Load counts a loader that has returned.
func (c *Counters) Load(err error) {
	c.Loads.Add(1)
	if err != nil && !errors.Is(err, local.ErrNotFound) {
		c.LoadErrors.Add(1)
	}
}

func add(c *atomic.Uint64, n int) { offheap.StoreRelease64(c, c.Load()+uint64(n)) }

// Sum is what the stripes have together.
func (c *Counters) Sum() (hits, misses, sets, deletes uint64) {
	sum := func(s *counts) {
		hits += s.hits.Load()
		misses += s.misses.Load()
		sets += s.sets.Load()
		deletes += s.deletes.Load()
	}
	sum(&c.first)
	if all := c.stripes.Load(); all != nil {
		for i := range *all {
			sum(&(*all)[i].counts)
		}
	}
	return hits, misses, sets, deletes
}
