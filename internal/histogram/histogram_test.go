package histogram

import (
	"math"
	"math/rand"
	"slices"
	"sync"
	"testing"
	"time"
)

// Each bucket ends where the next begins, and the bounds are as wide apart as promised.
func TestBuckets(t *testing.T) {
	for b := range Buckets - 1 {
		bound := boundOf(b)
		if at, next := bucketOf(bound), bucketOf(bound+1); at != b || next != b+1 {
			t.Errorf("bucket %d ends with %v, which lies in %d, and the next in %d", b, bound, at, next)
		}
		if b > 0 && float64(bound) > 1.125*float64(boundOf(b-1)) && bound-boundOf(b-1) > time.Microsecond {
			t.Errorf("bucket %d reaches from %v to %v", b, boundOf(b-1), bound)
		}
	}
	if last := boundOf(Buckets - 2); last != time.Microsecond<<doublings {
		t.Errorf("the largest bound is %v, want %v", last, time.Microsecond<<doublings)
	}
	for d, want := range map[time.Duration]int{0: 0, 1: 0, time.Microsecond: 0, math.MaxInt64: Buckets - 1} {
		if b := bucketOf(d); b != want {
			t.Errorf("%v lies in bucket %d, want %d", d, b, want)
		}
	}
}

func TestQuantile(t *testing.T) {
	var r Recorder
	empty := r.Snapshot()
	if q := empty.Quantile(.5); q != 0 {
		t.Errorf("median of nothing: %v", q)
	}
	var all []time.Duration
	var sum time.Duration
	var h Histogram
	for range 10_000 {
		d := time.Duration(math.Exp(rand.Float64() * 24))
		all, sum = append(all, d), sum+d
		r.Add(d)
		h.Add(d)
	}
	slices.Sort(all)
	if h != r.Snapshot() || h.Count != 10_000 || h.Sum != sum {
		t.Errorf("%d durations, %v together: want 10000, %v, counted in both ways", h.Count, h.Sum, sum)
	}
	for _, p := range []float64{-1, 0, .001, .5, .99, .999, 1, 2} {
		exact := all[min(max(int(math.Ceil(p*10_000))-1, 0), len(all)-1)]
		if got := h.Quantile(p); got < exact || float64(got) > 1.125*float64(exact)+1000 {
			t.Errorf("quantile %g: %v, exact %v", p, got, exact)
		}
	}
	h.Add(time.Hour)
	if q := h.Quantile(1); q != math.MaxInt64 {
		t.Errorf("longest of all: %v, want no bound", q)
	}
}

// The counts of the powers of two are those of the durations up to them.
func TestPowers(t *testing.T) {
	var h Histogram
	all := []time.Duration{-1, 0, time.Microsecond, time.Microsecond + 1, 8 * time.Microsecond, 9 * time.Microsecond, 16 * time.Microsecond, time.Second, time.Hour}
	for _, d := range all {
		h.Add(d)
	}
	want := time.Microsecond
	for bound, count := range h.Powers {
		n := uint64(0)
		for _, d := range all {
			if d <= bound {
				n++
			}
		}
		if bound != want || count != n {
			t.Errorf("%d durations up to %v: want %d, up to %v", count, bound, n, want)
		}
		want *= 2
	}
	if want != 2*time.Microsecond<<doublings {
		t.Errorf("the bound after the last would be %v", want)
	}
	for range h.Powers {
		break
	}
}

// Nothing is lost that several goroutines count.
func TestRecorderTogether(t *testing.T) {
	var r Recorder
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for i := range 1000 {
				r.Add(time.Duration(i) * time.Microsecond)
			}
		})
	}
	all.Wait()
	if h := r.Snapshot(); h.Count != 4000 || h.Sum != 4*999*500*time.Microsecond {
		t.Errorf("%d durations, %v together", h.Count, h.Sum)
	}
}
