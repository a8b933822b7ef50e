package replay

import (
	"testing"
	"time"
)

// nothing is a store that is always empty.
type nothing struct{}

func (nothing) Get(dst, _ []byte) ([]byte, bool)       { return dst, false }
func (nothing) Set(_, _ []byte, _ time.Duration) error { return nil }
func (nothing) Stats() StoreStats                      { return StoreStats{} }
func (nothing) Close() error                           { return nil }
func nothingWorker() *worker {
	return newWorker(&Config{Store: StoreOptions{RAMBytes: 1 << 20}, ValueSize: 64}, nothing{}, 0)
}

// One request in 16 is timed, on average.
func TestSampling(t *testing.T) {
	t.Parallel()
	w := nothingWorker()
	requests := loops(1, 160_000)
	if err := w.replay(requests); err != nil {
		t.Fatal(err)
	}
	if n := w.latency.TotalCount(); n < 9_500 || n > 10_500 {
		t.Errorf("%d of %d requests timed, want about 10,000", n, len(requests))
	}
}

// The loop allocates nothing, so garbage is the cache's own.
func TestLoopDoesNotAllocate(t *testing.T) {
	w := nothingWorker()
	requests := loops(1, 1000)
	if n := testing.AllocsPerRun(10, func() {
		if err := w.replay(requests); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations per 1,000 requests", n)
	}
}

func TestStamp(t *testing.T) {
	t.Parallel()
	for n := range 40 {
		value := make([]byte, n)
		stampValue(value, 5)
		if isValueOf(value, 5) != (n > 0) {
			t.Errorf("length %d: not taken for what it is", n)
		}
		if n >= 4 && isValueOf(value, 6) {
			t.Errorf("length %d: taken for that of another key", n)
		}
		if n >= 4 && isValueOf(value[:n-1], 5) {
			t.Errorf("length %d: cut unnoticed", n)
		}
	}
}

// BenchmarkLoop measures what the loop costs beside the cache.
func BenchmarkLoop(b *testing.B) {
	w := nothingWorker()
	requests := loops(1, 1000)
	for b.Loop() {
		if err := w.replay(requests); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/request")
}
