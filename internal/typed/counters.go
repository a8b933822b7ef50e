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
// goroutine, and a little low for many. A stripe takes a cache line, and there may be a hundred
// thousand namespaces: one begins with one word for all counts, has a few stripes once a count is
// some thousands, and all of them once a count of a stripe is a million.
type Counters struct {
	few     atomic.Uint64                   // fewBits for each kind
	stripes atomic.Pointer[[]counterStripe] // nil at first
}

// kind is what is counted.
type kind uint

const (
	hits kind = iota
	misses
	sets
	deletes
	kinds
)

const (
	fewBits           = 64 / kinds
	countsOfOne       = 1 << 12 // from which on one word is too few
	countsOfSome      = 1 << 20 // of one stripe, from which on someStripes are
	someStripes       = 8
	maxCounterStripes = 64
)

type counterStripe struct {
	counts [kinds]atomic.Uint64
	_      [32]byte
}

// mask is one less than the number of stripes: twice as many as goroutines run at once.
var mask = uintptr(min(1<<bits.Len(uint(2*runtime.GOMAXPROCS(0)-1)), maxCounterStripes) - 1)

func (c *Counters) add(k kind, n int) {
	all := c.stripes.Load()
	if all == nil {
		if c.addFew(k, n) {
			return
		}
		all = c.stripes.Load()
	}
	at := &(*all)[offheap.Stripe()&uintptr(len(*all)-1)].counts[k]
	sum := at.Load() + uint64(n)
	if offheap.StoreRelease64(at, sum); sum >= countsOfSome && len(*all) <= int(mask) {
		c.widen(all)
	}
}

// widen has all stripes take the place of a few. What others count meanwhile is lost.
func (c *Counters) widen(few *[]counterStripe) {
	all := make([]counterStripe, mask+1)
	for i := range *few {
		for k := range kinds {
			all[i].counts[k].Store((*few)[i].counts[k].Load())
		}
	}
	c.stripes.CompareAndSwap(few, &all)
}

// addFew is add without stripes. It reports false if there are some now: each count has been less
// than countsOfOne, or n is not.
func (c *Counters) addFew(k kind, n int) bool {
	few := c.few.Load()
	if few>>(k*fewBits)&(1<<fewBits-1) >= countsOfOne || n >= countsOfOne {
		some := make([]counterStripe, min(mask+1, someStripes))
		c.stripes.CompareAndSwap(nil, &some)
		return false
	}
	offheap.StoreRelease64(&c.few, few+uint64(n)<<(k*fewBits))
	return true
}

// Read counts a lookup.
func (c *Counters) Read(hit bool) {
	if hit {
		c.add(hits, 1)
	} else {
		c.add(misses, 1)
	}
}

// ReadMulti counts the lookups of a batch.
func (c *Counters) ReadMulti(found, missing int) {
	c.add(hits, found)
	c.add(misses, missing)
}

// Set counts values that were stored.
func (c *Counters) Set(n int) { c.add(sets, n) }

// Delete counts keys that were deleted.
func (c *Counters) Delete(n int) { c.add(deletes, n) }

// Counts are how often what was called.
type Counts struct{ Hits, Misses, Sets, Deletes uint64 }

// Sum is what was counted.
func (c *Counters) Sum() Counts {
	var sum [kinds]uint64
	few := c.few.Load()
	for k := range kinds {
		sum[k] = few >> (k * fewBits) & (1<<fewBits - 1)
	}
	if all := c.stripes.Load(); all != nil {
		for i := range *all {
			for k := range sum {
				sum[k] += (*all)[i].counts[k].Load()
			}
		}
	}
	return Counts{sum[hits], sum[misses], sum[sets], sum[deletes]}
}

// Rare counts what takes longer than an atomic operation with one.
type Rare struct {
	Mismatches, DecodeErrors, Loads, LoadErrors atomic.Uint64
	FrontHits                                   atomic.Uint64 // of fronts that are gone
}

// Load counts a loader that has returned.
func (c *Rare) Load(err error) {
	c.Loads.Add(1)
	if err != nil && !errors.Is(err, local.ErrNotFound) {
		c.LoadErrors.Add(1)
	}
}
