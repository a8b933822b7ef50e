package live

import (
	"math"
	"runtime"
	"runtime/metrics"
)

// runtimeReader reads the state of the Go program. It is used by one goroutine at a time.
type runtimeReader struct {
	statsviz string
	hotKeys  bool
	samples  []metrics.Sample
	pauses   []uint64 // of the earlier read, by bucket
	gcCPU    float64
	allCPU   float64
	share    float64 // of the processors, lately
}

// The samples, in this order.
const (
	sampleHeap = iota
	sampleGoroutines
	sampleCycles
	samplePauses
	sampleGCCPU
	sampleCPU
)

func newRuntimeReader(statsviz string, hotKeys bool) *runtimeReader {
	r := &runtimeReader{statsviz: statsviz, hotKeys: hotKeys}
	for _, name := range []string{
		"/memory/classes/heap/objects:bytes", "/sched/goroutines:goroutines", "/gc/cycles/total:gc-cycles",
		"/sched/pauses/total/gc:seconds", "/cpu/classes/gc/total:cpu-seconds", "/cpu/classes/total:cpu-seconds",
	} {
		r.samples = append(r.samples, metrics.Sample{Name: name})
	}
	return r
}

// read takes the figures. Pauses, and the share of the processors, are those since the read
// before; of the first, since the program began. The runtime accounts for processors at the end
// of a collection: the share is that of the time up to the last one, until there is another.
func (r *runtimeReader) read() process {
	metrics.Read(r.samples)
	p := process{Go: runtime.Version(), Statsviz: r.statsviz, HotKeys: r.hotKeys}
	p.HeapBytes = r.number(sampleHeap)
	p.Goroutines = r.number(sampleGoroutines)
	p.GCCycles = r.number(sampleCycles)
	if v := r.samples[samplePauses].Value; v.Kind() == metrics.KindFloat64Histogram {
		p.GCPauseP50, p.GCPauseMax = r.pause(v.Float64Histogram())
	}
	gc, all := r.seconds(sampleGCCPU), r.seconds(sampleCPU)
	if all > r.allCPU {
		r.share = min(max((gc-r.gcCPU)/(all-r.allCPU), 0), 1)
	}
	p.GCCPU = r.share
	r.gcCPU, r.allCPU = gc, all
	return p
}

// number is a sample; one that this version of Go does not have is 0.
func (r *runtimeReader) number(i int) uint64 {
	if v := r.samples[i].Value; v.Kind() == metrics.KindUint64 {
		return v.Uint64()
	}
	return 0
}

func (r *runtimeReader) seconds(i int) float64 {
	if v := r.samples[i].Value; v.Kind() == metrics.KindFloat64 {
		return v.Float64()
	}
	return 0
}

// pause is the median and the longest of the pauses since the read before, in milliseconds, 0
// without any.
func (r *runtimeReader) pause(h *metrics.Float64Histogram) (median, longest float64) {
	fresh, total := make([]uint64, len(h.Counts)), uint64(0)
	for i, n := range h.Counts {
		fresh[i] = n
		if i < len(r.pauses) {
			fresh[i] -= min(r.pauses[i], n)
		}
		total += fresh[i]
	}
	r.pauses = append(r.pauses[:0], h.Counts...)
	seen := uint64(0)
	for i, n := range fresh {
		if n == 0 {
			continue
		}
		longest = bound(h.Buckets, i) * 1e3
		if seen < (total+1)/2 {
			median = longest
		}
		seen += n
	}
	return median, longest
}

// bound is the upper bound of a bucket, or the lower one of a bucket without.
func bound(buckets []float64, i int) float64 {
	if upper := buckets[i+1]; !math.IsInf(upper, 1) {
		return upper
	}
	return max(buckets[i], 0)
}
