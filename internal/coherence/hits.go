package coherence

import (
	"sync/atomic"

	"github.com/firncache/firn/internal/offheap"
)

// Hits counts values found in fronts, as internal/ram counts reads: without an
// atomic operation, and so a little low if many goroutines share a stripe.
type Hits [hitStripes]hitStripe

type hitStripe struct {
	hits atomic.Uint64
	_    [56]byte
}

const (
	hitStripes     = 64
	readAgainEvery = 512
)

// Count counts a hit. Now and then it says that the bytes are to be read too,
// lest RAM take a key for unpopular that is only read above it.
func (h *Hits) Count() (readAgain bool) {
	s := &h[offheap.Stripe()%hitStripes]
	n := s.hits.Load() + 1
	offheap.StoreRelease64(&s.hits, n)
	return n%readAgainEvery == 0
}

// sum is how many hits were counted.
func (h *Hits) sum() (n uint64) {
	for i := range h {
		n += h[i].hits.Load()
	}
	return n
}
