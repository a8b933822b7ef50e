// Package histogram counts durations in buckets that are the same in all histograms of a
// scale.
//
// Terminology:
//
//   - scale: which durations it distinguishes. It has a unit, and reaches 268 million of them.
//   - bucket: the durations up to a bound, and above the one before. There are 8 to a
//     doubling, and below 8 units one to a unit.
//   - bound: the largest duration of a bucket. A unit doubled so and so often is one.
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
	doublings   = 28 // the largest bound is so often the double of a unit

	// Buckets is how many there are. The last holds what is longer than any bound.
	Buckets = (doublings-logPer+1)*perDoubling + 1
)

// Scale is which durations a histogram distinguishes.
type Scale uint8

// The scales.
const (
	Micros Scale = iota // requests: from 1 µs to 268 s
	Nanos               // reads of memory: from 1 ns to 268 ms
	Ages                // lives of entries: from 10 ms to 31 days
)

func (s Scale) unit() time.Duration {
	return [...]time.Duration{time.Microsecond, time.Nanosecond, 10 * time.Millisecond}[s]
}

// tick is the unit of a sum. Nanoseconds of all lives would not fit in 64 bits: they grow each
// second by as many seconds as there are entries.
func (s Scale) tick() time.Duration {
	if s == Ages {
		return s.unit()
	}
	return time.Nanosecond
}

// Recorder counts durations. All methods are safe for concurrent use. It is a few hundred
// words, of Scale, which is set before the first duration.
type Recorder struct {
	Scale  Scale
	counts [Buckets]atomic.Uint64
	sum    atomic.Int64 // in ticks
}

// Add counts a duration; one below 0 counts as 0.
func (r *Recorder) Add(d time.Duration) { r.AddN(d, 1) }

// AddN counts a duration that came n times.
func (r *Recorder) AddN(d time.Duration, n uint64) {
	d = max(d, 0)
	r.counts[r.Scale.bucketOf(d)].Add(n)
	r.sum.Add(int64(d/r.Scale.tick()) * int64(n))
}

// Snapshot is what was counted so far. Counts do not fall from one to the next.
func (r *Recorder) Snapshot() (h Histogram) {
	h.scale, h.sum = r.Scale, r.sum.Load()
	for i := range r.counts {
		h.counts[i] = r.counts[i].Load()
		h.count += h.counts[i]
	}
	return h
}

// Histogram is a distribution of durations.
type Histogram struct {
	scale  Scale
	count  uint64
	sum    int64 // in ticks
	counts [Buckets]uint64
}

// Of is the histogram of a scale without a duration.
func Of(s Scale) Histogram { return Histogram{scale: s} }

// Scale is which durations it distinguishes.
func (h *Histogram) Scale() Scale { return h.scale }

// Count is how many durations there are.
func (h *Histogram) Count() uint64 { return h.count }

// Add counts a duration; one below 0 counts as 0.
func (h *Histogram) Add(d time.Duration) {
	d = max(d, 0)
	h.counts[h.scale.bucketOf(d)]++
	h.count++
	h.sum += int64(d / h.scale.tick())
}

// Sum is all durations together, or the largest there is if that is less.
func (h *Histogram) Sum() time.Duration {
	if h.sum > int64(math.MaxInt64/h.scale.tick()) {
		return math.MaxInt64
	}
	return time.Duration(h.sum) * h.scale.tick()
}

// Nanoseconds is all durations together.
func (h *Histogram) Nanoseconds() float64 { return float64(h.sum) * float64(h.scale.tick()) }

// Mean is the mean of them, 0 if there are none.
func (h *Histogram) Mean() time.Duration {
	if h.count == 0 {
		return 0
	}
	if s := h.Sum(); s < math.MaxInt64 {
		return s / time.Duration(h.count)
	}
	return time.Duration(h.Nanoseconds() / float64(h.count))
}

// Quantile is a duration that the share p of all, 0 to 1, did not exceed: the bound of the
// bucket of the true quantile. It is 0 if there are none, and the largest duration there
// is above the largest bound.
func (h *Histogram) Quantile(p float64) time.Duration {
	rank := uint64(math.Ceil(min(max(p, 0), 1) * float64(h.count)))
	seen := uint64(0)
	for i, n := range h.counts {
		if seen += n; seen >= max(rank, 1) {
			return h.scale.boundOf(i)
		}
	}
	return 0
}

// Powers calls yield with each bound that is a unit doubled, rising, and how many durations do
// not exceed it, until yield returns false.
func (h *Histogram) Powers(yield func(bound time.Duration, count uint64) bool) {
	seen, i := uint64(0), 0
	for k := range doublings + 1 {
		bound := h.scale.unit() << k
		for ; i < Buckets-1 && h.scale.boundOf(i) <= bound; i++ {
			seen += h.counts[i]
		}
		if !yield(bound, seen) {
			return
		}
	}
}

// bucketOf is the bucket of a duration of at least 0. Of the units begun, less one, it is
// the number itself below 8, and then the exponent and the three bits below the leading one.
func (s Scale) bucketOf(d time.Duration) int {
	v := uint64(d)
	if v > 0 {
		v = (v - 1) / uint64(s.unit())
	}
	if v < perDoubling {
		return int(v)
	}
	e := bits.Len64(v) - 1 - logPer
	return min(e*perDoubling+int(v>>e), Buckets-1)
}

// boundOf is the bound of a bucket.
func (s Scale) boundOf(b int) time.Duration {
	switch {
	case b == Buckets-1:
		return math.MaxInt64
	case b < perDoubling:
		return time.Duration(b+1) * s.unit()
	}
	e := b/perDoubling - 1
	return time.Duration(b-e*perDoubling+1) << e * s.unit()
}

// Sub is what was counted after earlier, a snapshot of the same recorder. A bucket that
// fell, which only one of another recorder can, counts as empty.
func (h *Histogram) Sub(earlier *Histogram) (d Histogram) {
	for i, n := range h.counts {
		if n > earlier.counts[i] {
			d.counts[i] = n - earlier.counts[i]
			d.count += d.counts[i]
		}
	}
	d.scale, d.sum = h.scale, max(h.sum-earlier.sum, 0)
	return d
}
