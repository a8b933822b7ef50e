package replay

import (
	"time"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

	"github.com/firncache/firn/stats"
)

// Result is the outcome of one run. Pointers are nil, and null in JSON, where a
// figure is not known.
type Result struct {
	Cache      string `json:"cache"`
	Trace      string `json:"trace"` // path; "generated" for the generated workload
	RAMBytes   int64  `json:"ram_bytes"`
	Goroutines int    `json:"goroutines"`

	Requests     int64    `json:"requests"` // reads and writes of the workload: hits + misses + writes
	Hits         int64    `json:"hits"`
	Misses       int64    `json:"misses"`
	Writes       int64    `json:"writes"`           // requests that wrote without reading first
	HitRatio     float64  `json:"hit_ratio"`        // hits / (hits + misses)
	ByteHitRatio *float64 `json:"byte_hit_ratio"`   // the same by bytes, over reads of known size
	Rejected     int64    `json:"rejected"`         // values the cache found too large
	WrongValues  int64    `json:"wrong_values"`     // hits with another value than was set
	Evictions    *int64   `json:"evictions"`        // by the cache's own count
	Expired      *int64   `json:"expired"`          // by the cache's own count
	CacheBytes   *int64   `json:"cache_bytes"`      // memory by the cache's own account
	RSSBytes     *int64   `json:"rss_bytes"`        // resident memory of the process after the last request, garbage collected
	RSSPeak      *int64   `json:"rss_peak_bytes"`   // the most during the run, garbage and the reader of the trace included
	RSSBefore    *int64   `json:"rss_before_bytes"` // before the cache was opened, garbage collected

	DurationSeconds float64 `json:"duration_seconds"` // of the requests, without reading the trace
	OpsPerSecond    float64 `json:"ops_per_second"`   // requests / duration
	P50             int64   `json:"p50_ns"`           // latency of a request
	P99             int64   `json:"p99_ns"`
	P999            int64   `json:"p999_ns"`
	GCCycles        int64   `json:"gc_cycles"`
	GCCPUFraction   float64 `json:"gc_cpu_fraction"` // GC's share of the CPU time that GOMAXPROCS allows in duration
	ShareDone       float64 `json:"share_done"`      // of the workload; below 1 where the time limit or an interrupt ended the run
	Interrupted     bool    `json:"interrupted"`     // the run was ended before the workload was

	SSD   *SSD         `json:"ssd,omitempty"`   // of a run with an SSD tier
	Curve *stats.Curve `json:"curve,omitempty"` // what the cache would do at other sizes, as of the last request

	Against []Result `json:"against,omitempty"` // rivals on the same workload
}

// known returns a pointer to v, or nil if v is Unknown.
func known(v int64) *int64 {
	if v == Unknown {
		return nil
	}
	return &v
}

// derive fills the figures that follow from others.
func (r *Result) derive(duration time.Duration, total tally) {
	r.Hits, r.Misses, r.Writes = total.hits, total.misses, total.writes
	r.Rejected, r.WrongValues = total.rejected, total.wrong
	r.Requests = total.hits + total.misses + total.writes
	if reads := total.hits + total.misses; reads > 0 {
		r.HitRatio = float64(total.hits) / float64(reads)
	}
	if total.bytes > 0 {
		ratio := float64(total.hitBytes) / float64(total.bytes)
		r.ByteHitRatio = &ratio
	}
	r.DurationSeconds = duration.Seconds()
	if duration > 0 {
		r.OpsPerSecond = float64(r.Requests) / duration.Seconds()
	}
}

// adviseRejected takes back that everything fits, where values were too large to be stored.
func (r *Result) adviseRejected() {
	if r.Curve == nil || r.Rejected == 0 {
		return
	}
	for _, c := range []*stats.SizeCurve{&r.Curve.RAM, &r.Curve.Both} {
		if len(c.Points) > 0 && !c.Evicts {
			c.Advice = []string{"Nothing was evicted, but " + TooLarge(r.Rejected) + ", which more RAM may change."}
		}
	}
}

// TooLarge says how many values were.
func TooLarge(n int64) string {
	return humanize.Comma(n) + english.PluralWord(int(n), " value was", " values were") + " larger than the cache takes"
}
