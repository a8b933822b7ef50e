// Package histogram counts durations in buckets that are the same everywhere.
//
// Terminology:
//
//   - bucket: the durations up to a bound, and above the one before. There are 8 to a
//     doubling, and below 8 µs one to a microsecond.
//   - bound: the largest duration of a bucket. Each power of two of a microsecond is one.
package histogram

import (
	"math"
	"math/bits"
	"sync/atomic"
	"time"
)

const (
	perDoubling = 8
	logPer      = 3
	doublings   = 28 // the largest bound is so often the double of a microsecond: 268 s

	// Buckets is how many there are. The last holds what is longer than any bound.
	Buckets = (doublings-logPer+1)*perDoubling + 1
)

// Recorder counts durations. All methods are safe for concurrent use.
type Recorder struct {
	counts [Buckets]atomic.Uint64
	sum    atomic.Int64
}

// Add counts a duration; one below 0 counts as 0.
func (r *Recorder) Add(d time.Duration) {
	d = max(d, 0)
	r.counts[bucketOf(d)].Add(1)
	r.sum.Add(int64(d))
}

// Snapshot is what was counted so far. Counts do not fall from one to the next.
func (r *Recorder) Snapshot() (h Histogram) {
	h.Sum = time.Duration(r.sum.Load())
	for i := range r.counts {
		h.counts[i] = r.counts[i].Load()
		h.Count += h.counts[i]
	}
	return h
}

// Histogram is a distribution of durations.
type Histogram struct {
	Count  uint64
	Sum    time.Duration
	counts [Buckets]uint64
}

// Add counts a duration; one below 0 counts as 0.
func (h *Histogram) Add(d time.Duration) {
	d = max(d, 0)
	h.counts[bucketOf(d)]++
	h.Count++
	h.Sum += d
}

// Quantile is a duration that the share p of all, 0 to 1, did not exceed: the bound of the
// bucket of the true quantile. It is 0 if there are none, and the largest duration there
// is above the largest bound.
func (h *Histogram) Quantile(p float64) time.Duration {
	rank := uint64(math.Ceil(min(max(p, 0), 1) * float64(h.Count)))
	seen := uint64(0)
	for i, n := range h.counts {
		if seen += n; seen >= max(rank, 1) {
			return boundOf(i)
		}
	}
	return 0
}

// Powers calls yield with each bound that is a power of two of a microsecond, rising, and how
// many durations do not exceed it, until yield returns false.
func (h *Histogram) Powers(yield func(bound time.Duration, count uint64) bool) {
	seen, i := uint64(0), 0
	for k := range doublings + 1 {
		bound := time.Microsecond << k
		for ; i < Buckets-1 && boundOf(i) <= bound; i++ {
			seen += h.counts[i]
		}
		if !yield(bound, seen) {
			return
		}
	}
}

// bucketOf is the bucket of a duration of at least 0. Of the microseconds begun, less one,
// it is the number itself below 8, and then the exponent and the three bits below the
// leading one.
func bucketOf(d time.Duration) int {
	v := uint64(d)
	if v > 0 {
		v = (v - 1) / uint64(time.Microsecond)
	}
	if v < perDoubling {
		return int(v)
	}
	e := bits.Len64(v) - 1 - logPer
	return min(e*perDoubling+int(v>>e), Buckets-1)
}

// boundOf is the bound of a bucket.
func boundOf(b int) time.Duration {
	switch {
	case b == Buckets-1:
		return math.MaxInt64
	case b < perDoubling:
		return time.Duration(b+1) * time.Microsecond
	}
	e := b/perDoubling - 1
	return time.Duration(b-e*perDoubling+1) << e * time.Microsecond
}

// Sub is what was counted after earlier, a snapshot of the same recorder. A bucket that
// fell, which only one of another recorder can, counts as empty.
func (h *Histogram) Sub(earlier *Histogram) (d Histogram) {
	for i, n := range h.counts {
		if n > earlier.counts[i] {
			d.counts[i] = n - earlier.counts[i]
			d.Count += d.counts[i]
		}
	}
	d.Sum = max(h.Sum-earlier.Sum, 0)
	return d
}
