package aio

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestBuckets(t *testing.T) {
	for b := range buckets - 1 {
		if last := lastIn(b); bucketOf(uint64(last)) != b || bucketOf(uint64(last+1)) != b+1 {
			t.Errorf("bucket %d ends with %d, which lies in %d, and the next in %d", b, last, bucketOf(uint64(last)), bucketOf(uint64(last+1)))
		}
	}
	if b := bucketOf(math.MaxInt64); b != buckets-1 {
		t.Errorf("the largest value lies in bucket %d", b)
	}
}

func TestQuantile(t *testing.T) {
	var h histogram
	empty := h.snapshot()
	if q := empty.Quantile(0.5); q != 0 {
		t.Errorf("median of nothing: %d", q)
	}
	var all []int64
	for range 10_000 {
		ns := int64(math.Exp(rand.Float64() * 20))
		all = append(all, ns)
		h.add(ns)
	}
	slices.Sort(all)
	l := h.snapshot()
	for _, q := range []float64{0, 0.001, 0.5, 0.99, 0.999, 1} {
		exact := all[max(int(math.Ceil(q*10_000))-1, 0)]
		if got := l.Quantile(q); got < exact || float64(got) > 1.125*float64(exact)+1 {
			t.Errorf("quantile %g: %d, exact %d", q, got, exact)
		}
	}
}
