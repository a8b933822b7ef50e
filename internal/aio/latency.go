package aio

import (
	"math"
	"math/bits"
	"sync/atomic"
)

// Buckets of a histogram are 8 to a doubling: a quantile is at most 12.5 % too
// large. The last holds everything from 137 s up.
const (
	perDoubling = 8
	logPer      = 3
	buckets     = 36 * perDoubling
)

// histogram counts durations in nanoseconds.
type histogram struct {
	counts [buckets]atomic.Uint64
	sum    atomic.Int64
}

func (h *histogram) add(ns int64) {
	ns = max(ns, 0)
	h.counts[bucketOf(uint64(ns))].Add(1)
	h.sum.Add(ns)
}

// bucketOf is the value itself below 8, and then its exponent and the three
// bits below the leading one.
func bucketOf(v uint64) int {
	if v < perDoubling {
		return int(v)
	}
	e := bits.Len64(v) - 1 - logPer
	return min(e*perDoubling+int(v>>e), buckets-1)
}

// lastIn is the largest value of a bucket.
func lastIn(b int) int64 {
	if b < perDoubling {
		return int64(b)
	}
	if b == buckets-1 {
		return math.MaxInt64
	}
	e := b/perDoubling - 1
	return (int64(b-e*perDoubling)+1)<<e - 1
}

func (h *histogram) snapshot() Latency {
	l := Latency{Sum: h.sum.Load()}
	for i := range h.counts {
		l.counts[i] = h.counts[i].Load()
		l.Count += l.counts[i]
	}
	return l
}

// Latency is a distribution of durations in nanoseconds.
type Latency struct {
	Count  uint64
	Sum    int64 // of all durations
	counts [buckets]uint64
}

// Quantile is a duration in nanoseconds that the share q of the reads, 0 to 1,
// did not exceed: at most 12.5 % above the true quantile. 0 if there were none.
func (l *Latency) Quantile(q float64) int64 {
	rank := uint64(math.Ceil(min(max(q, 0), 1) * float64(l.Count)))
	seen := uint64(0)
	for i, n := range l.counts {
		seen += n
		if seen >= max(rank, 1) {
			return lastIn(i)
		}
	}
	return 0
}
