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
	for s, reach := range map[Scale][2]time.Duration{
		Micros: {time.Microsecond, 268435456 * time.Microsecond},
		Nanos:  {1, 268435456},
		Ages:   {10 * time.Millisecond, 2684354560 * time.Millisecond}, // 31 days
	} {
		for b := range Buckets - 1 {
			bound := s.boundOf(b)
			if at, next := s.bucketOf(bound), s.bucketOf(bound+1); at != b || next != b+1 {
				t.Errorf("scale %d: bucket %d ends with %v, which lies in %d, and the next in %d", s, b, bound, at, next)
			}
			if b > 0 && float64(bound) > 1.125*float64(s.boundOf(b-1)) && bound-s.boundOf(b-1) > reach[0] {
				t.Errorf("scale %d: bucket %d reaches from %v to %v", s, b, s.boundOf(b-1), bound)
			}
		}
		if first, last := s.boundOf(0), s.boundOf(Buckets-2); first != reach[0] || last != reach[1] {
			t.Errorf("scale %d: bounds from %v to %v, want %v", s, first, last, reach)
		}
		for d, want := range map[time.Duration]int{0: 0, 1: 0, reach[0]: 0, math.MaxInt64: Buckets - 1} {
			if b := s.bucketOf(d); b != want {
				t.Errorf("scale %d: %v lies in bucket %d, want %d", s, d, b, want)
			}
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
	if h != r.Snapshot() || h.Count() != 10_000 || h.Sum() != sum {
		t.Errorf("%d durations, %v together: want 10000, %v, counted in both ways", h.Count(), h.Sum(), sum)
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

// The difference of two snapshots is what was counted in between.
func TestSub(t *testing.T) {
	var all, later Histogram
	for i := range 1000 {
		all.Add(time.Duration(i) * time.Microsecond)
	}
	earlier := all
	for i := range 500 {
		all.Add(time.Duration(i) * time.Millisecond)
		later.Add(time.Duration(i) * time.Millisecond)
	}
	if d := all.Sub(&earlier); d != later {
		t.Errorf("%d durations, %v together: want %d, %v", d.Count(), d.Sum(), later.Count(), later.Sum())
	}
	if d := earlier.Sub(&all); d != (Histogram{}) {
		t.Errorf("taken after what it is subtracted from: %d durations, %v", d.Count(), d.Sum())
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
	if h := r.Snapshot(); h.Count() != 4000 || h.Sum() != 4*999*500*time.Microsecond {
		t.Errorf("%d durations, %v together", h.Count(), h.Sum())
	}
}

// Lives of entries count in their own scale, many at once, and their sum does not end where
// nanoseconds do.
func TestAges(t *testing.T) {
	r := Recorder{Scale: Ages}
	day := 24 * time.Hour
	r.AddN(day, 1000)
	r.AddN(-time.Second, 1)
	r.AddN(100*day, 10)
	h := r.Snapshot()
	if q := h.Quantile(.5); h.Count() != 1011 || q < day || float64(q) > 1.125*float64(day) {
		t.Errorf("%d ages, half of them up to %v; want 1011, and a day", h.Count(), q)
	}
	if q := h.Quantile(1); q != math.MaxInt64 {
		t.Errorf("the longest is %v, want no bound", q)
	}
	if h.Sum() != 2000*day || h.Nanoseconds() != float64(2000*day) || h.Mean() != 2000*day/1011 {
		t.Errorf("%v together, %g ns, mean %v", h.Sum(), h.Nanoseconds(), h.Mean())
	}
	r.AddN(day, 1e9)
	h = r.Snapshot()
	if want := 1e9 * float64(day); h.Sum() != math.MaxInt64 || h.Nanoseconds() < want || h.Nanoseconds() > 1.01*want || h.Mean().Round(time.Minute) != day {
		t.Errorf("%v together, %g ns, mean %v: want the most, %g and about a day", h.Sum(), h.Nanoseconds(), h.Mean(), want)
	}
	later := h
	later.Add(day)
	if d := later.Sub(&h); d.Scale() != Ages || d.Count() != 1 || d.Sum() != day {
		t.Errorf("after a day was added the difference is %d of %v, in scale %d", d.Count(), d.Sum(), d.Scale())
	}
}
