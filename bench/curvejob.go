package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/firncache/firn/bench/curve"
	"github.com/firncache/firn/bench/hitratio"
	"github.com/firncache/firn/bench/rivals"
	"github.com/firncache/firn/bench/samples"
)

// curveLimit is how many requests a load has at most.
func (j job) curveLimit() int {
	if j.Small {
		return 40_000
	}
	return 1_200_000
}

// none is the rivals of a suite that has none.
func none() []string { return nil }

// curveWeight is that of an average trace, some 20 times.
func curveWeight(j job) float64 { return 20e-6 * float64(j.curveLimit()) }

// curveMemory is that of a trace of values of 40 KiB, and of two caches for most of them.
func curveMemory(j job) int64 {
	if j.Small {
		return 256 << 20
	}
	return 5 << 30
}

// curveJobs is a job for each load of each trace, with the next one for loads of two.
func curveJobs(o options, _ []string, add func(job)) error {
	traces, err := hitratio.Find(os.Getenv("FIRN_TRACES"))
	if err != nil {
		return err
	}
	loads := curve.Loads
	if o.Small {
		traces, loads = traces[:1], loads[:2]
	}
	for i, trace := range traces {
		for _, l := range loads {
			add(job{Kind: "curve", Rival: rivals.Firn, Param: strings.Join([]string{l.Name, trace, traces[(i+1)%len(traces)]}, "|")})
		}
	}
	return nil
}

// runCurve asks caches on one load, and measures others.
func runCurve(j job, out *emitter) error {
	of := strings.Split(j.Param, "|")
	at := slices.IndexFunc(curve.Loads, func(l curve.Load) bool { return l.Name == of[0] })
	if len(of) != 3 || at < 0 {
		return fmt.Errorf("param %q: expected LOAD|TRACE|TRACE", j.Param)
	}
	limit := j.curveLimit() / curve.Loads[at].Traces
	a, err := hitratio.Load(of[1], limit)
	if err != nil {
		return err
	}
	b, err := hitratio.Load(of[2], limit)
	if err != nil {
		return err
	}
	t := curve.Loads[at].Of(a, b)
	if j.Small { // smaller caches have no curve
		for key := range t.Sizes {
			t.Sizes[key] = 32 << 10
		}
	}
	points, err := curve.Points(t)
	if err != nil {
		return fmt.Errorf("%s: %w", t.Name, err)
	}
	var group []samples.Sample
	for _, p := range points {
		group = append(group, j.pointSamples(of[0], t.Name, p)...)
	}
	if len(group) > 0 {
		out.emit(group...)
	}
	return nil
}

// pointSamples are those of one point.
func (j job) pointSamples(load, trace string, p curve.Point) (all []samples.Sample) {
	name := fmt.Sprintf("load=%s/trace=%s/size=%g/factor=%g/at=%d/", load, trace, p.Size, p.Factor, p.At)
	for i, v := range fieldsOf(&p) {
		if all = append(all, curveSample(name+pointFields[i], "%", 100**v)); !p.Valid {
			break
		}
	}
	return all
}

func curveSample(name, unit string, value float64) samples.Sample {
	return samples.Sample{Suite: "curve", Name: name, Cache: rivals.Firn, Ops: 1, Value: value, Unit: unit}
}

// pointFields are what samples have of a point: of one that is not valid, the first alone.
var pointFields = []string{"bar", "predicted", "real", "whole"}

func fieldsOf(p *curve.Point) []*float64 { return []*float64{&p.Bar, &p.Predicted, &p.Real, &p.Whole} }

var pointName = regexp.MustCompile(`^load=([a-z]+)/(trace=.+/size=([0-9.]+)/factor=([0-9.]+)/at=([0-9]+)/)([a-z]+)$`)

// pointsOf puts the points together again, by load.
func pointsOf(all []samples.Sample) map[string][]curve.Point {
	loads, last := map[string][]curve.Point{}, ""
	for _, s := range all {
		m := pointName.FindStringSubmatch(s.Name)
		if m == nil {
			continue
		}
		if name := m[1] + m[2]; name != last {
			last = name
			loads[m[1]] = append(loads[m[1]], curve.Point{Size: floatOf(m[3]), Factor: floatOf(m[4]), At: int(floatOf(m[5]))})
		}
		p := &loads[m[1]][len(loads[m[1]])-1]
		field := slices.Index(pointFields, m[6])
		*fieldsOf(p)[field] = s.Value / 100
		p.Valid = p.Valid || field > 0
	}
	return loads
}

// floatOf is a number that an expression has found to be one.
func floatOf(s string) float64 {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		panic(err)
	}
	return v
}

// curveTargets sums up the points of each load, and those of all that change.
func curveTargets(all []samples.Sample) (more []samples.Sample, notes []string) {
	loads := pointsOf(all)
	var changing []curve.Point
	for i, l := range curve.Loads {
		if i > 0 {
			changing = append(changing, loads[l.Name]...)
		}
		more = append(more, targetSamples(l.Name, loads[l.Name])...)
	}
	return append(more, targetSamples("changing", changing)...), nil
}

// targetSamples are the sums of some points.
func targetSamples(of string, points []curve.Point) (all []samples.Sample) {
	t := curve.Sum(points)
	if t.Points == 0 {
		return nil
	}
	for _, v := range []struct {
		name, unit string
		value      float64
	}{
		{"points", "points", float64(t.Points)}, {"within", "%", t.Within}, {"mean", "points", t.Mean}, {"p95", "points", t.P95}, {"most", "points", t.Most},
		{"bar", "points", t.Bar}, {"valid", "%", t.Valid}, {"late", "%", t.ValidLate}, {"gains", "gains", float64(t.Gains)},
		{"whole-within", "%", t.WholeWithin}, {"whole-mean", "points", t.WholeMean},
	} {
		all = append(all, curveSample("targets/"+of+"/"+v.name, v.unit, v.value))
	}
	return all
}
