package live

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
)

// Pauses and the collector's share of the processors are those between two reads.
func TestProcess(t *testing.T) {
	r := newRuntimeReader("", false)
	first := r.read()
	for range 5 {
		runtime.GC()
	}
	p := r.read()
	if p.GCCycles < first.GCCycles+5 || p.GCPauseMax <= 0 || p.GCPauseP50 <= 0 || p.GCPauseP50 > p.GCPauseMax || p.GCCPU <= 0 || p.GCCPU > 1 {
		t.Errorf("after five collections: %+v", p)
	}
	if p.Go != runtime.Version() || p.HeapBytes == 0 || p.Goroutines == 0 {
		t.Errorf("%+v", p)
	}
	for i, s := range r.samples {
		if s.Value.Kind() == metrics.KindBad {
			t.Errorf("Go has no %s", r.samples[i].Name)
		}
	}
}

// The runtime accounts for processors at the end of a collection: until the next one the share stays.
func TestShareOfProcessors(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	r := newRuntimeReader("", false)
	runtime.GC()
	first, second := r.read(), r.read()
	if first.GCCycles == second.GCCycles && (first.GCCPU <= 0 || second.GCCPU != first.GCCPU) {
		t.Errorf("the share is %v, and %v when nothing was collected since", first.GCCPU, second.GCCPU)
	}
}

func TestPauses(t *testing.T) {
	r := newRuntimeReader("", false)
	h := &metrics.Float64Histogram{Counts: []uint64{5, 0, 0}, Buckets: []float64{0, .001, .002, .004}}
	r.pause(h)
	if median, longest := r.pause(h); median != 0 || longest != 0 {
		t.Errorf("without a pause: %v and %v ms", median, longest)
	}
	h.Counts = []uint64{8, 1, 1}
	if median, longest := r.pause(h); median != 1 || longest != 4 {
		t.Errorf("three short, a longer, a long one: %v and %v ms, want 1 and 4", median, longest)
	}
	h.Counts = []uint64{8, 2, 1}
	if median, longest := r.pause(h); median != 2 || longest != 2 {
		t.Errorf("a longer one: %v and %v ms, want 2 and 2", median, longest)
	}
}
