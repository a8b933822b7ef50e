package gcload

import (
	"runtime/metrics"
	"testing"
	"time"
)

// TestStores: every store keeps what it is given, and the requests find it.
func TestStores(t *testing.T) {
	for _, name := range Names() {
		r, err := Run(Options{Store: name, Entries: 2000, Cycles: 2, Time: 5 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		wantMisses := int64(0)
		if name == Nothing {
			wantMisses = r.Gets
		}
		if r.Refused != 0 || r.Missing != 0 || r.Misses != wantMisses || r.Gets == 0 || len(r.Cycles) != 2 || r.Requests.TotalCount()*requestReads != r.Gets {
			t.Errorf("%s: %d refused, %d missing, %d misses of %d, %d cycles", name, r.Refused, r.Missing, r.Misses, r.Gets, len(r.Cycles))
		}
		if r.Share < 0 || r.Share > 100 {
			t.Errorf("%s: the collector took %v %%", name, r.Share)
		}
	}
}

func TestLongest(t *testing.T) {
	h := func(counts ...uint64) *metrics.Float64Histogram {
		return &metrics.Float64Histogram{Counts: counts, Buckets: []float64{0, 1, 2, 3}}
	}
	if got := longest(h(1, 0, 5), h(9, 4, 5)); got != 2*time.Second {
		t.Errorf("longest pause %v; expected 2s", got)
	}
	if got := longest(h(1, 1, 1), h(1, 1, 1)); got != 0 {
		t.Errorf("longest pause %v of none", got)
	}
}
