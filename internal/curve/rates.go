// Package curve makes the curve that users see of what miniature caches measured and of rates.
package curve

import (
	"math"
	"sync"
	"time"

	"github.com/firncache/firn/stats"
)

// Counts is what was counted until a time.
type Counts struct {
	At                                int64 // milliseconds of the store's clock
	Hits, Misses, SSDHits, SharedHits uint64
	Loads                             uint64        // in values
	Loading                           time.Duration // all calls of loaders together
}

// Recent remembers two Counts, so that rates are recent ones, and not since Open, however
// often they are computed.
type Recent struct {
	mu        sync.Mutex
	from, mid Counts
}

// window is how old Counts get, in milliseconds, before the next take their place.
const window = 30_000

// Open begins at now.
func (l *Recent) Open(now int64) { l.from.At, l.mid.At = now, now }

// Since is the Counts of at least a window ago, or the first.
func (l *Recent) Since(now Counts) Counts {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case now.At < l.mid.At-window: // the clock was set back
		l.from, l.mid = now, now
	case now.At-l.mid.At >= window:
		l.from, l.mid = l.mid, now
	}
	return l.from
}

// rates are what happened between two Counts.
type rates struct {
	reads      float64          // in RAM, a second
	unanswered float64          // share of these that no tier has answered
	byShared   float64          // share of these that the shared tier has answered
	loadTime   time.Duration    // mean of a value; 0: none was measured
	both       *stats.SizeCurve // of RAM and SSD as one cache; nil: not known
	bySSD      float64          // share of reads that the SSD has answered
	ssdBytes   int64            // of the bytes of both, those on the SSD
}

func ratesOf(from, to Counts) (r rates) {
	seconds := float64(to.At-from.At) / 1000
	hits, misses := float64(less(to.Hits, from.Hits)), float64(less(to.Misses, from.Misses))
	ssd, shared := float64(less(to.SSDHits, from.SSDHits)), float64(less(to.SharedHits, from.SharedHits))
	r.reads = quotient(hits+misses, seconds)
	r.unanswered = quotient(max(misses-ssd-shared, 0), hits+misses)
	r.byShared = quotient(shared, hits+misses)
	r.bySSD = quotient(min(ssd, misses), hits+misses)
	if to.Loads == from.Loads { // of late there were none
		from = Counts{}
	}
	r.loadTime = time.Duration(quotient(float64(to.Loading-from.Loading), float64(less(to.Loads, from.Loads))))
	return r
}

// less is a-b, 0 below 0: counters that are not synchronized may fall.
func less(a, b uint64) uint64 { return a - min(a, b) }

// quotient is a/b, 0 if that is no number or none that a can be above 0.
func quotient(a, b float64) float64 {
	if q := a / b; b > 0 && !math.IsNaN(q) && !math.IsInf(q, 0) {
		return q
	}
	return 0
}
