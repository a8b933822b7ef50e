package curve

import (
	"math"
	"slices"
	"testing"

	"github.com/firncache/firn"
	"github.com/firncache/firn/bench/hitratio"
)

func load(t *testing.T, name string, limit int) *hitratio.Trace {
	t.Helper()
	trace, err := hitratio.Load(name, limit)
	if err != nil {
		t.Fatal(err)
	}
	return trace
}

// TestCells: each predictor says something of other sizes that is about true.
func TestCells(t *testing.T) {
	trace := load(t, "generated-zipf", 80_000)
	for key := range trace.Sizes {
		trace.Sizes[key] = 16 << 10 // a hundredth of the cache is the simulation's
	}
	for _, p := range Predictors {
		cells, err := p.Cells(trace, []float64{20}, 2)
		if err != nil {
			t.Fatal(err)
		}
		if len(cells) == 0 {
			t.Errorf("%s predicts nothing", p.Name)
		}
		for _, c := range cells {
			if c.Real <= 0 || c.Real > 1 || c.Keys <= 0 || !slices.Contains(Sizes, c.Size) || !slices.Contains(Factors, c.Factor) {
				t.Errorf("%s: %+v makes no sense", p.Name, c)
			}
			if off := math.Abs(c.Predicted - c.Real); off > max(0.05, 2*c.Bar) {
				t.Errorf("%s: %g %% says %.3f ± %.3f of %g times the size; expected %.3f", p.Name, c.Size, c.Predicted, c.Bar, c.Factor, c.Real)
			}
		}
	}
}

// TestRoomy: what is taken for the misses of a cache that evicts nothing is what one has.
func TestRoomy(t *testing.T) {
	trace := load(t, "generated-drift", 30_000)
	misses, err := cacheMisses(trace, roomy)
	if err != nil {
		t.Fatal(err)
	}
	r, err := open(bytesOf(trace, roomy), firn.WhatIfOff)
	if err != nil {
		t.Fatal(err)
	}
	defer r.cache.Close()
	r.replay(trace, func(b, _, n int) {
		if float64(n) != misses[b] {
			t.Errorf("block %d: %v misses; expected %d", b, misses[b], n)
		}
	})
}

// TestWindow: a truth is over the requests that a prediction is about.
func TestWindow(t *testing.T) {
	requests := []int{blockOf, blockOf, blockOf / 2}
	misses := []float64{blockOf, 0, blockOf / 4}
	for _, c := range []struct {
		name  string
		reads float64 // that the prediction is about
		want  float64
	}{
		{"all", 2.5 * blockOf, 0.5},
		{"not the first block", 1.5 * blockOf, 0.25 / 1.5},
		{"half of the first block", 2 * blockOf, 0.75 / 2},
		{"part of the last block", blockOf / 4, 0.5},
	} {
		var w window
		for _, n := range requests {
			w.advance(n, c.reads)
		}
		if got, ok := w.ratio(misses); !ok || math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %v, %v; expected %v", c.name, got, ok, c.want)
		}
	}
	var never window
	never.advance(blockOf, 0)
	if got, ok := never.ratio(misses); ok {
		t.Errorf("a truth of %v over nothing", got)
	}
	if got, ok := never.ratio(nil); ok {
		t.Errorf("a truth of %v of a cache that there is not", got)
	}
}

func TestErrors(t *testing.T) {
	cells := []Cell{
		{Factor: 2, Predicted: 0.52, Real: 0.5, Bar: 0.03, Keys: EnoughKeys},
		{Factor: 4, Predicted: 0.44, Real: 0.5, Bar: 0.01, Keys: EnoughKeys},
		{Factor: 4, Predicted: 0.9, Real: 0.5, Keys: EnoughKeys - 1},
		{Factor: 8, Predicted: 0.8, Real: 0.5, Keys: EnoughKeys},
	}
	got := Group{Factors: []float64{2, 4}}.Errors(cells)
	want := Errors{Cells: 2, Mean: 4, P95: 6, Most: 6, Bias: -2, Within: 50}
	for _, v := range [][2]float64{{got.Mean, want.Mean}, {got.P95, want.P95}, {got.Most, want.Most}, {got.Bias, want.Bias}, {got.Within, want.Within}} {
		if math.Abs(v[0]-v[1]) > 1e-9 || got.Cells != want.Cells {
			t.Fatalf("%+v; expected %+v", got, want)
		}
	}
	if e := (Group{Factors: []float64{0.25}}).Errors(cells); e != (Errors{}) {
		t.Errorf("%+v of no cells", e)
	}
}
