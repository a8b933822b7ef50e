package stats

import (
	"encoding/json"
	"fmt"
	"iter"
	"time"

	"github.com/firncache/firn/internal/histogram"
)

// Histogram is a distribution of durations since Open, in buckets that are the same in
// every Histogram of a field of Cache: differences of two are right bucket by bucket. The
// zero Histogram has none.
type Histogram histogram.Histogram

// Count is how many durations there are.
func (h *Histogram) Count() uint64 { return h.in().Count() }

// Sum is all of them together, at most the largest time.Duration; Metric.Value has no such
// limit.
func (h *Histogram) Sum() time.Duration { return h.in().Sum() }

// Mean is their mean, 0 if there are none.
func (h *Histogram) Mean() time.Duration { return h.in().Mean() }

// Quantile is a duration that the share p of all, from 0 to 1, did not exceed:
// Quantile(.5) is the median. It is at most an eighth, or the first bound of Buckets, above
// the true one; 0 if there are none; and the largest time.Duration if it is above the last.
func (h *Histogram) Quantile(p float64) time.Duration { return h.in().Quantile(p) }

// Buckets yields 29 bounds, each twice the one before, and how many durations did not exceed
// the bound: from 1 µs to 268 s; of RAM.EvictionAges from 10 ms to 31 days. Count tells
// those above the last as well.
func (h *Histogram) Buckets() iter.Seq2[time.Duration, uint64] { return h.in().Powers }

// Sub is the distribution of the durations that h has and earlier, a snapshot of the same
// field taken before, has not: its quantiles are those of the time in between.
func (h *Histogram) Sub(earlier *Histogram) Histogram { return Histogram(h.in().Sub(earlier.in())) }

// Add counts a duration, for tests of what shows a Histogram. It must not be called by two
// goroutines at once.
func (h *Histogram) Add(d time.Duration) { h.in().Add(d) }

func (h *Histogram) in() *histogram.Histogram { return (*histogram.Histogram)(h) }

// String is the count, the mean and some quantiles.
func (h Histogram) String() string {
	return fmt.Sprintf("n=%d mean=%v p50=%v p99=%v p999=%v", h.Count(), h.Mean(), h.Quantile(.5), h.Quantile(.99), h.Quantile(.999))
}

// MarshalJSON is an object of count, and in nanoseconds of sum, p50, p99 and p999.
func (h Histogram) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Count uint64        `json:"count"`
		Sum   time.Duration `json:"sum"`
		P50   time.Duration `json:"p50"`
		P99   time.Duration `json:"p99"`
		P999  time.Duration `json:"p999"`
	}{h.Count(), h.Sum(), h.Quantile(.5), h.Quantile(.99), h.Quantile(.999)})
}
