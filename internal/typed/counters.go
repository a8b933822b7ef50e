package typed

import (
	"errors"
	"math/bits"
	"runtime"
	"sync/atomic"

	"github.com/firncache/firn/internal/offheap"
	"github.com/firncache/firn/internal/tiered"
)

// Counters count calls as internal/ram counts reads: without an atomic operation, in
// stripes that goroutines which run at once seldom share; so they are exact for one
// goroutine, and a little low for many.
type Counters struct {
	stripes []counterStripe
	mask    uintptr

	// What takes longer than an atomic operation is counted with one.
	Mismatches, DecodeErrors, Loads, LoadErrors atomic.Uint64
	FrontHits                                   atomic.Uint64 // of fronts that are gone
}

type counterStripe struct {
	hits, misses, sets, deletes atomic.Uint64
	_                           [32]byte
}

const maxCounterStripes = 64

// init makes stripes, twice as many as goroutines run at once.
func (c *Counters) init() {
	n := min(1<<bits.Len(uint(2*runtime.GOMAXPROCS(0)-1)), maxCounterStripes)
	c.stripes, c.mask = make([]counterStripe, n), uintptr(n-1)
}

func (c *Counters) stripe() *counterStripe { return &c.stripes[offheap.Stripe()&c.mask] }

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
	if err != nil && !errors.Is(err, tiered.ErrNotFound) {
		c.LoadErrors.Add(1)
	}
}

func add(c *atomic.Uint64, n int) { offheap.StoreRelease64(c, c.Load()+uint64(n)) }

// Sum is what the stripes have together.
func (c *Counters) Sum() (hits, misses, sets, deletes uint64) {
	for i := range c.stripes {
		s := &c.stripes[i]
		hits += s.hits.Load()
		misses += s.misses.Load()
		sets += s.sets.Load()
		deletes += s.deletes.Load()
	}
	return hits, misses, sets, deletes
}
