package report

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/firncache/firn/bench/chart"
	"github.com/firncache/firn/bench/rivals"
	"github.com/firncache/firn/bench/samples"
)

// A Figure is a chart made from one suite's results.
type Figure struct {
	ID    string // unique, usable as a file name
	Suite string
	Chart chart.Chart
	Main  bool // worth a place in the README
}

// A spec says which samples a kind of chart shows. Its expression may name
// groups: x is the place on the axis, and each value of facet gets a chart of
// its own, with the value in place of {facet} in the title.
type spec struct {
	id, suite  string
	name       *regexp.Regexp
	title      string
	xLabel     string // lines; empty: bars
	unit       string // label of the values
	logX, logY bool
	rate       float64 // values are ns/op; rate divided by them is shown; 0: the values
	orNothing  bool    // lines of a single point are left out
	ticks      []chart.Tick
	most       int    // lines, the first in the order of the tables; 0: all
	main       string // the facet whose chart is worth a place in the README; "*": every
	worst      bool   // bars: the worst repeat is printed, too
}

var percentiles = []chart.Tick{{At: 0, Label: "p50"}, {At: 1, Label: "p90"}, {At: 2, Label: "p99"}, {At: 3, Label: "p99.9"}, {At: 4, Label: "max"}}

var goroutineTicks = []chart.Tick{{At: 1, Label: "1"}, {At: 2, Label: "2"}, {At: 4, Label: "4"}, {At: 8, Label: "8"}, {At: 16, Label: "16"}, {At: 32, Label: "32"}, {At: 64, Label: "64"}}

// find is the result of a spec: samples by facet, then by cache, then by x.
type find struct {
	facets []string
	caches map[string][]string // by facet
	values map[place][]float64
	xs     map[string][]float64 // by facet and cache
}

type place struct {
	facet, cache string
	x            float64
}

// collect groups the samples that the spec shows.
func (s spec) collect(all []samples.Sample) find {
	f := find{caches: make(map[string][]string), values: make(map[place][]float64), xs: make(map[string][]float64)}
	facetAt, xAt := s.name.SubexpIndex("facet"), s.name.SubexpIndex("x")
	for _, sample := range all {
		m := s.name.FindStringSubmatch(sample.Name)
		if m == nil {
			continue
		}
		p := place{cache: sample.Cache}
		if facetAt > 0 {
			p.facet = m[facetAt]
		}
		if xAt > 0 {
			p.x = axisValue(m[xAt])
		}
		if !slices.Contains(f.facets, p.facet) {
			f.facets = append(f.facets, p.facet)
		}
		if !slices.Contains(f.caches[p.facet], p.cache) {
			f.caches[p.facet] = append(f.caches[p.facet], p.cache)
		}
		if f.values[p] == nil {
			line := p.facet + "\n" + p.cache
			f.xs[line] = append(f.xs[line], p.x)
		}
		v := sample.Value
		if s.rate > 0 {
			v = s.rate / v
		}
		f.values[p] = append(f.values[p], v)
	}
	for _, caches := range f.caches {
		slices.SortStableFunc(caches, func(a, b string) int { return rank(a) - rank(b) })
	}
	return f
}

// axisValue is the place of a name's part on the axis: its number, or the
// place of a percentile in a row of them.
func axisValue(s string) float64 {
	if i := slices.IndexFunc(percentiles, func(t chart.Tick) bool { return t.Label == s }); i >= 0 {
		return percentiles[i].At
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0
	}
	return v
}

// rank orders caches: firn, then as in the table of rivals, then the rest.
func rank(cache string) int {
	i := slices.IndexFunc(rivals.All, func(r rivals.Rival) bool { return r.Name == cache })
	if i < 0 {
		return len(rivals.All)
	}
	return i
}

// colors gives caches that stand beside each other different colours, and the
// same cache the same colour in all charts that know it.
func colors(caches []string) map[string]int {
	taken := make(map[int]bool)
	out := make(map[string]int)
	for _, c := range caches {
		if i := rank(c); i < len(rivals.All) {
			out[c] = i % chart.SeriesColors
			taken[out[c]] = true
		}
	}
	next := 1
	for _, c := range caches {
		if _, ok := out[c]; ok {
			continue
		}
		for taken[next] && len(taken) < chart.SeriesColors-1 {
			next = 1 + next%(chart.SeriesColors-1)
		}
		out[c] = next
		taken[next] = true
		next = 1 + next%(chart.SeriesColors-1)
	}
	return out
}

// Figures draws the charts of the runs.
func Figures(runs []*samples.Run) []Figure {
	var all []Figure
	for _, r := range runs {
		for _, s := range specs {
			if s.suite == r.Suite {
				all = append(all, s.figures(r.Samples)...)
			}
		}
	}
	return all
}

// figures makes a chart for each facet with something to show.
func (s spec) figures(all []samples.Sample) []Figure {
	f := s.collect(all)
	var out []Figure
	for _, facet := range f.facets {
		var c chart.Chart
		if s.xLabel == "" {
			c = s.bars(f, facet)
		} else {
			c = s.lines(f, facet)
		}
		if c == nil {
			continue
		}
		id := s.suite + "-" + s.id
		if facet != "" {
			id += "-" + strings.ToLower(facet)
		}
		out = append(out, Figure{ID: fileName(id), Suite: s.suite, Chart: c, Main: s.main == "*" || s.main != "" && s.main == facet})
	}
	return out
}

var notInNames = regexp.MustCompile(`[^a-z0-9.]+`)

func fileName(id string) string { return notInNames.ReplaceAllString(strings.ToLower(id), "-") }

var timesPart = regexp.MustCompile(`times=([0-9.]+)`)

// titleOf puts the facet into the title, large numbers in short.
func (s spec) titleOf(facet string) string {
	if v, err := strconv.ParseFloat(facet, 64); err == nil {
		facet = chart.Number(v)
	}
	facet = timesPart.ReplaceAllString(facet, "$1 times")
	return strings.ReplaceAll(s.title, "{facet}", strings.ReplaceAll(facet, "/", ", "))
}

func (f find) point(p place) chart.Point {
	s := samples.SpreadOf(slices.Clone(f.values[p]))
	return chart.Point{X: p.x, Y: s.Median, Low: s.Low, High: s.High}
}

func (s spec) lines(f find, facet string) chart.Chart {
	l := chart.Lines{Title: s.titleOf(facet), XLabel: s.xLabel, YLabel: s.unit, LogX: s.logX, LogY: s.logY, XTicks: s.ticks}
	color := colors(f.caches[facet])
	for _, cache := range f.caches[facet] {
		if s.most > 0 && len(l.Series) == s.most {
			break
		}
		xs := f.xs[facet+"\n"+cache]
		slices.Sort(xs)
		if s.orNothing && len(xs) < 2 {
			continue
		}
		series := chart.Series{Name: cache, Color: color[cache], Strong: cache == rivals.Firn}
		for _, x := range xs {
			series.Points = append(series.Points, f.point(place{facet, cache, x}))
		}
		l.Series = append(l.Series, series)
	}
	if len(l.Series) == 0 {
		return nil
	}
	l.XTicks = trimTicks(l)
	return l
}

// trimTicks keeps the ticks that lie within the data.
func trimTicks(l chart.Lines) []chart.Tick {
	var kept []chart.Tick
	for _, t := range l.XTicks {
		for _, s := range l.Series {
			if s.Points[0].X <= t.At && t.At <= s.Points[len(s.Points)-1].X {
				kept = append(kept, t)
				break
			}
		}
	}
	return kept
}

func (s spec) bars(f find, facet string) chart.Chart {
	b := chart.Bars{Title: s.titleOf(facet), XLabel: s.unit, Log: s.logX}
	caches := f.caches[facet]
	color := colors(caches)
	for _, cache := range caches {
		row := chart.Row{Name: cache, Color: color[cache], Y: f.point(place{facet, cache, 0})}
		if v := f.values[place{facet, cache, 0}]; s.worst && len(v) > 1 {
			row.Detail = " (worst " + chart.Number(slices.Max(v)) + ")"
		}
		b.Rows = append(b.Rows, row)
	}
	return b
}
