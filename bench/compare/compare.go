// Package compare sets two runs of one suite side by side, with benchstat's
// statistics: medians with their confidence intervals, and the Mann-Whitney
// U test for whether they differ.
package compare

import (
	"fmt"
	"math"
	"strings"

	"golang.org/x/perf/benchmath"

	"github.com/firncache/firn/bench/rivals"
	"github.com/firncache/firn/bench/samples"
)

// confidence is that of the intervals, as benchstat's default.
const confidence = 0.95

// A Row is one measurement in both runs.
type Row struct {
	Name, Cache, Against string // of the samples; Cache is empty where it is firn's ratio to Against
	Unit                 string // "×" for ratios
	Old, New             benchmath.Summary
	P                    benchmath.Comparison
}

// Delta is the change of the median as benchstat prints it: "~" where the two
// runs do not differ for certain.
func (r Row) Delta() string { return r.P.FormatDelta(r.Old.Center, r.New.Center) }

// Changed reports whether the runs differ for certain.
func (r Row) Changed() bool { return r.P.P < r.P.Alpha && r.Old.Center != r.New.Center }

// key identifies a measurement within a suite.
type key struct{ name, cache, against, unit string }

// Runs compares all measurements that both runs have, in the order of the new
// one. Pairs that took turns give a row of ratios, which two runs at different
// times can be trusted with, and rows of each cache's own figures.
func Runs(before, after *samples.Run) ([]Row, error) {
	if before.Suite != after.Suite {
		return nil, fmt.Errorf("suites %s and %s: expected two runs of the same", before.Suite, after.Suite)
	}
	old, _ := group(before.Samples)
	now, order := group(after.Samples)
	var rows []Row
	for _, k := range order {
		if o, n := old[k], now[k]; len(o) > 0 {
			rows = append(rows, row(k, o, n))
		}
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("suite %s: the two runs have no measurement in common; expected the same -n", after.Suite)
	}
	return rows, nil
}

// group collects the repeats of each measurement. Ratios stand before the
// figures that they are made from.
func group(all []samples.Sample) (map[key][]float64, []key) {
	values := make(map[key][]float64)
	var order []key
	add := func(k key, v float64) {
		if values[k] == nil {
			order = append(order, k)
		}
		values[k] = append(values[k], v)
	}
	type turn struct {
		name, rival string
		repeat      int
	}
	firn := make(map[turn]float64)
	for _, s := range all {
		if s.Cache == rivals.Firn {
			firn[turn{s.Name, s.Against, s.Repeat}] = s.Value
		}
	}
	for _, s := range all {
		if own := firn[turn{s.Name, s.Cache, s.Repeat}]; s.Against == rivals.Firn && s.Unit == "ns/op" && own > 0 {
			add(key{s.Name, "", s.Cache, "×"}, s.Value/own)
		}
		add(key{s.Name, s.Cache, s.Against, s.Unit}, s.Value)
	}
	return values, order
}

func row(k key, old, now []float64) Row {
	thresholds := benchmath.DefaultThresholds
	a, b := benchmath.NewSample(old, &thresholds), benchmath.NewSample(now, &thresholds)
	method := benchmath.AssumeNothing
	return Row{
		Name: k.name, Cache: k.cache, Against: k.against, Unit: k.unit,
		Old: method.Summary(a, confidence), New: method.Summary(b, confidence), P: method.Compare(a, b),
	}
}

// What names a row's measurement: the cell, and whose figure it is.
func (r Row) What() string {
	switch {
	case r.Cache == "":
		return r.Name + " firn over " + r.Against
	case r.Against != "":
		return r.Name + " " + r.Cache + " (beside " + r.Against + ")"
	}
	return r.Name + " " + r.Cache
}

// Figure prints a summary: median, unit, and how wide the interval is.
func (r Row) Figure(s benchmath.Summary) string {
	f := fmt.Sprintf("%.4g %s", s.Center, r.Unit)
	if s.Lo != s.Hi && s.Center != 0 && !math.IsInf(s.Lo, 0) && !math.IsInf(s.Hi, 0) {
		f += " ± " + strings.TrimSpace(s.PctRangeString())
	} else if math.IsInf(s.Lo, 0) || math.IsInf(s.Hi, 0) {
		f += " ± ∞"
	}
	return f
}

// Text prints rows as lines.
func Text(rows []Row) string {
	var b strings.Builder
	for _, r := range rows {
		fmt.Fprintf(&b, "%-72s %20s %20s  %-8s %s\n", r.What(), r.Figure(r.Old), r.Figure(r.New), r.Delta(), r.P)
	}
	return b.String()
}
