package main

import (
	"fmt"
	"math"
	"os"
	"runtime"

	"github.com/firncache/firn/bench/curve"
	"github.com/firncache/firn/bench/hitratio"
	"github.com/firncache/firn/bench/report"
	"github.com/firncache/firn/bench/rivals"
	"github.com/firncache/firn/bench/samples"
)

// curveLimit is how many requests of each trace are replayed: all, but in a small run.
func (j job) curveLimit() int {
	if j.Small {
		return 20_000
	}
	return math.MaxInt
}

// none is the rivals of a suite that has none.
func none() []string { return nil }

// curveWeight is that of an average trace: two million requests, some 70 times.
func curveWeight(j job) float64 { return 10e-6 * float64(min(j.curveLimit(), 2_000_000)) }

// curveMemory is that of a trace of values of 40 KiB, and of two caches for most of them.
func curveMemory(j job) int64 {
	if j.Small {
		return 256 << 20
	}
	return 5 << 30
}

// curveJobs is a job for each trace.
func curveJobs(o options, _ []string, add func(job)) error {
	traces, err := hitratio.Find(os.Getenv("FIRN_TRACES"))
	if err != nil {
		return err
	}
	for _, trace := range traces {
		add(job{Kind: "curve", Rival: rivals.Firn, Param: trace})
	}
	return nil
}

// runCurve predicts and measures the miss ratios of one trace.
func runCurve(j job, out *emitter) error {
	t, err := hitratio.Load(j.Param, j.curveLimit())
	if err != nil {
		return err
	}
	for _, p := range curve.Predictors {
		cells, err := p.Cells(t, curve.Sizes, runtime.GOMAXPROCS(0))
		if err != nil {
			return fmt.Errorf("%s: %w", t.Name, err)
		}
		var group []samples.Sample
		for _, c := range cells {
			group = append(group, j.curveSamples(p.Name, t, c)...)
		}
		if len(group) > 0 {
			out.emit(group...)
		}
	}
	return nil
}

// curveSamples are those of one cell.
func (j job) curveSamples(by string, t *hitratio.Trace, c curve.Cell) (all []samples.Sample) {
	for _, v := range []struct {
		name, unit string
		value      float64
	}{
		{"predicted", "%", 100 * c.Predicted}, {"bar", "%", 100 * c.Bar}, {"real", "%", 100 * c.Real}, {"keys", "keys", float64(c.Keys)},
	} {
		all = append(all, samples.Sample{
			Suite: j.Suite, Name: fmt.Sprintf("%s/trace=%s/size=%g/factor=%g/%s", by, t.Name, c.Size, c.Factor, v.name), Cache: rivals.Firn,
			Ops: int64(len(t.Requests)), Value: v.value, Unit: v.unit,
		})
	}
	return all
}

// curveErrors sums up the predictions behind which there are enough keys, for each predictor and
// group of factors.
func curveErrors(all []samples.Sample) (more []samples.Sample, notes []string) {
	cells := cellsOf(all)
	for _, p := range curve.Predictors {
		for _, g := range curve.Groups {
			e := g.Errors(cells[p.Name])
			if e.Cells == 0 {
				continue
			}
			more = append(more, errorSamples(p.Name+"/"+g.Name, e)...)
		}
	}
	return more, []string{fmt.Sprintf("Errors are those of predictions with at least %d keys of the sample behind them.", curve.EnoughKeys)}
}

// errorSamples are the errors of a group.
func errorSamples(of string, e curve.Errors) (all []samples.Sample) {
	for _, v := range []struct {
		name, unit string
		value      float64
	}{
		{"cells", "cells", float64(e.Cells)}, {"mean", "points", e.Mean}, {"p95", "points", e.P95}, {"most", "points", e.Most},
		{"bias", "points", e.Bias}, {"within", "%", e.Within},
	} {
		all = append(all, samples.Sample{Suite: "curve", Name: of + "/" + v.name, Cache: rivals.Firn, Ops: int64(e.Cells), Value: v.value, Unit: v.unit})
	}
	return all
}

// cellsOf is what curveSamples have been made of, by predictor.
func cellsOf(all []samples.Sample) map[string][]curve.Cell {
	cells := make(map[string][]curve.Cell)
	for _, c := range report.CurveCells(all) {
		cells[c.By] = append(cells[c.By], c.Cell)
	}
	return cells
}
