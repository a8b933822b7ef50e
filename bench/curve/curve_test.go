package curve

import (
	"math"
	"slices"
	"testing"

	"github.com/firncache/firn/bench/hitratio"
)

func zipf(t *testing.T, limit int) *hitratio.Trace {
	t.Helper()
	trace, err := hitratio.Load("generated-zipf", limit)
	if err != nil {
		t.Fatal(err)
	}
	return trace
}

// TestPoints: a cache says something of other sizes that is about true.
func TestPoints(t *testing.T) {
	trace := zipf(t, 100_000)
	for key := range trace.Sizes {
		trace.Sizes[key] = 16 << 10 // a hundredth of the cache is the simulation's
	}
	points, err := Points(trace)
	if err != nil {
		t.Fatal(err)
	}
	s := Sum(points)
	if len(points) != len(Sizes)*len(Factors)*(moments-1) || s.Points < len(points)/2 || s.Mean > 3 || s.Within < 70 {
		t.Errorf("%d points, %+v; expected most valid and about right", len(points), s)
	}
	for _, p := range points {
		if p.Valid && (p.Real <= 0 || p.Real > 1 || p.Whole <= 0 || p.Whole > 1) || p.At%blockOf != 0 || !slices.Contains(Sizes, p.Size) || !slices.Contains(Factors, p.Factor) {
			t.Errorf("%+v makes no sense", p)
		}
	}
}

// TestTooSmall: of a cache that is too small for a curve there are no valid points.
func TestTooSmall(t *testing.T) {
	points, err := Points(zipf(t, 20_000))
	if s := Sum(points); err != nil || s != (Targets{}) {
		t.Errorf("%+v, %v; expected none", s, err)
	}
}

// TestLoads: a load that changes is what its name says.
func TestLoads(t *testing.T) {
	a := zipf(t, 40_000)
	b := &hitratio.Trace{Name: "b", Requests: make([]int32, 30_000), Sizes: []int32{7}} // one key
	share := func(l *hitratio.Trace, from, to float64, of func(key int32) bool) float64 {
		part, n := l.Requests[int(from*float64(len(l.Requests))):int(to*float64(len(l.Requests)))], 0
		for _, key := range part {
			if of(key) {
				n++
			}
		}
		return float64(n) / float64(len(part))
	}
	for _, l := range Loads {
		made := l.Of(a, b)
		second := func(key int32) bool { return made.Sizes[key] == 7 }
		later := func(key int32) bool { return !slices.Contains(made.Requests[:len(made.Requests)/2], key) }
		ok := false
		switch l.Name {
		case "steady":
			ok = made == a
		case "then":
			ok = share(made, 0, 0.5, second) == 0 && share(made, 0.5, 1, second) == 1
		case "day":
			ok = share(made, 0, 0.02, second) < 0.1 && share(made, 0.24, 0.26, second) > 0.9 && share(made, 0.49, 0.51, second) < 0.1
		case "scan":
			ok = math.Abs(share(made, 0.9, 0.92, later)-0.5) < 0.1 && len(made.Requests) == len(a.Requests)
		case "deploy":
			ok = share(made, 0.5, 0.52, later) == 1 && len(made.Requests) == len(a.Requests)
		}
		if !ok || l.Name != "steady" && slices.Max(made.Requests) != int32(len(made.Sizes)-1) {
			t.Errorf("%s: not what it should be", l.Name)
		}
	}
}

// TestWindow: a truth is over the requests that a prediction is about.
func TestWindow(t *testing.T) {
	misses := []float64{blockOf, 0, blockOf / 4, blockOf}
	for _, c := range []struct {
		name  string
		reads float64 // that the prediction is about
		want  float64
	}{
		{"all", 3 * blockOf, 1.25 / 3}, {"not the first block", 2 * blockOf, 0.125}, {"half of the first block", 2.5 * blockOf, 0.75 / 2.5}, {"part of the last block", blockOf / 4, 0.25},
	} {
		if got := (window{3, c.reads}).ratio(misses); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %v; expected %v", c.name, got, c.want)
		}
	}
}

func TestSum(t *testing.T) {
	got := Sum([]Point{
		{Factor: 2, Valid: true, Predicted: 0.52, Real: 0.5, Bar: 0.03, Whole: 0.52},
		{Factor: 4, Valid: true, Predicted: 0.44, Real: 0.5, Bar: 0.01, Whole: 0.5, At: 1_000_000},
		{Factor: 2, Valid: true, Predicted: 0.4, Real: 0.44, Bar: 0.03, Whole: 0.41},
		{Factor: 0.5, At: 1_200_000},
	})
	want := Targets{Points: 3, Within: 100.0 / 3, Mean: 4, P95: 6, Most: 6, Bar: 3, Valid: 75, ValidLate: 50, Gains: 1, WholeWithin: 200.0 / 3, WholeMean: 7.0 / 3}
	for _, v := range [][2]float64{
		{got.Within, want.Within}, {got.Mean, want.Mean}, {got.P95, want.P95}, {got.Most, want.Most}, {got.Bar, want.Bar}, {got.Valid, want.Valid},
		{got.ValidLate, want.ValidLate}, {got.WholeWithin, want.WholeWithin}, {got.WholeMean, want.WholeMean},
	} {
		if math.Abs(v[0]-v[1]) > 1e-9 || got.Points != want.Points || got.Gains != want.Gains {
			t.Fatalf("%+v; expected %+v", got, want)
		}
	}
}
