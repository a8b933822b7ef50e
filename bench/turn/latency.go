package turn

import (
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/firncache/firn/bench/keys"
	"github.com/firncache/firn/bench/rivals"
)

// timedEvery is how many calls there are for each that is timed. Reading the
// clock twice costs as much as a fast Get, so timing every call would measure
// the clock. Seven and mixPeriod have no common factor, so Sets are timed as
// often as Gets.
const timedEvery = 7

// Histogram counts latencies from 1 ns to 10 s, to three digits.
func Histogram() *hdrhistogram.Histogram { return hdrhistogram.New(1, int64(10*time.Second), 3) }

// Record adds a latency to h; one longer than h holds counts as its longest.
func Record(h *hdrhistogram.Histogram, d time.Duration) {
	_ = h.RecordValue(min(max(int64(d), 1), h.HighestTrackableValue()))
}

// Latency does w's operations, Get or Mix, one call at a time, and times one in
// seven of them. A latency includes one reading of the clock.
func Latency(c rivals.Cache, w Work) (Result, *hdrhistogram.Histogram) {
	parts := make([]counts, w.Goroutines)
	times := make([]*hdrhistogram.Histogram, w.Goroutines)
	var done sync.WaitGroup
	start := make(chan struct{})
	per := w.Keys.Len() / w.Goroutines
	for g := range w.Goroutines {
		part := w.Keys.Slice(g*per, per)
		times[g] = Histogram()
		done.Go(func() {
			<-start
			parts[g] = timed(c, part, w, times[g])
		})
	}
	began := time.Now()
	close(start)
	done.Wait()
	r := Result{Elapsed: time.Since(began), Ops: int64(per * w.Goroutines)}
	all := Histogram()
	for g, p := range parts {
		r.Gets += p.gets
		r.Hits += p.hits
		r.Refused += p.refused
		sink.Add(p.sum)
		all.Merge(times[g])
	}
	return r, all
}

// timed is mix with a clock, or get where w says so.
func timed(c rivals.Cache, s keys.Stream, w Work, h *hdrhistogram.Histogram) (n counts) {
	buf := make([]byte, 0, len(w.Value))
	for i := 0; len(s) >= keys.Size; i, s = i+1, s[keys.Size:] {
		key := s[:keys.Size:keys.Size]
		var began time.Time
		clock := i%timedEvery == 0
		if clock {
			began = time.Now()
		}
		if w.Op == Mix && i%mixPeriod == mixPeriod-1 {
			if !c.Set(key, w.Value) {
				n.refused++
			}
		} else {
			n.gets++
			if v, ok := c.Get(buf, key); ok {
				n.hits++
				n.sum += int64(v[0])
			}
		}
		if clock {
			Record(h, time.Since(began))
		}
	}
	return n
}
