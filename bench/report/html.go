package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"maps"
	"slices"

	"github.com/firncache/firn/bench/chart"
	"github.com/firncache/firn/bench/rivals"
	"github.com/firncache/firn/bench/samples"
)

//go:embed page.html
var pageSource string

var pageTemplate = template.Must(template.New("page").Parse(pageSource))

// HTML writes the report as one page that needs nothing besides itself: no
// script, no font, no network.
func HTML(w io.Writer, runs []*samples.Run) error {
	page := htmlPage{CSS: template.CSS(chart.CSS(":root"))}
	figures := Figures(runs)
	for _, r := range runs {
		page.Suites = append(page.Suites, suiteOf(r, figures))
		page.Noisy = page.Noisy || r.Noise.Noisy()
	}
	page.Caches = cachesOf(runs)
	return pageTemplate.Execute(w, page)
}

// htmlPage is the data of the template.
type htmlPage struct {
	CSS    template.CSS
	Noisy  bool
	Suites []htmlSuite
	Caches [][]string // name, version, configuration
}

type htmlSuite struct {
	Name, Text, Command   string
	Machine, Started, Ran string
	Noise                 string
	Noisy                 bool
	Notes                 []string
	Figures               []htmlFigure
	Logs                  []htmlLog
	Rows                  []figureRow
}

type htmlFigure struct {
	ID  string
	SVG template.HTML
}

type htmlLog struct{ Name, Text string }

// A figureRow is one measurement with its spread and its losses.
type figureRow struct {
	Name, Cache, Against, Value, Spread, Unit, Hit string
	Repeats                                        int
	Misses, Refused, Dropped                       int64
	Note                                           string
}

func suiteOf(r *samples.Run, figures []Figure) htmlSuite {
	m := r.Machine
	s := htmlSuite{
		Name: r.Suite, Text: suiteTexts[r.Suite], Command: "cd bench && " + r.Command, Notes: r.Notes,
		Machine: fmt.Sprintf("%s, GOMAXPROCS %d, %.0f GiB, %s/%s %s, huge pages %s, %s",
			orUnknown(m.CPU), m.Procs, m.MemoryGiB, m.OS, m.Arch, m.Kernel, orUnknown(bracketed(m.HugePages)), m.Go),
		Started: r.Started.Format("2006-01-02 15:04 MST"), Ran: fmt.Sprintf("%.1f min", r.Seconds/60),
		Noise: noiseText(r.Noise), Noisy: r.Noise.Noisy(), Rows: figureRows(r.Samples),
	}
	for _, f := range figures {
		if f.Suite == r.Suite {
			s.Figures = append(s.Figures, htmlFigure{f.ID, template.HTML(f.Chart.SVG())})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.Logs)) {
		s.Logs = append(s.Logs, htmlLog{name, r.Logs[name]})
	}
	return s
}

// noiseText describes the machine's other work in words.
func noiseText(n *samples.Noise) string {
	if n == nil {
		return "not known what else the machine did"
	}
	quiet := "the machine was quiet"
	if n.Noisy() {
		quiet = "the machine was noisy: trust ratios, not figures"
	}
	return fmt.Sprintf("%s (other programs and the kernel's threads took %.1f %% of all processors, other virtual machines %.1f %%)", quiet, n.Others, n.Steal)
}

// figureRows sums up the repeats of every measurement, in the order of the run.
func figureRows(all []samples.Sample) []figureRow {
	type key struct{ name, cache, against, unit string }
	groups := make(map[key][]samples.Sample)
	var order []key
	for _, s := range all {
		k := key{s.Name, s.Cache, s.Against, s.Unit}
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], s)
	}
	var rows []figureRow
	for _, k := range order {
		g := groups[k]
		v := samples.Values(g)
		row := figureRow{
			Name: k.name, Cache: k.cache, Against: k.against, Unit: k.unit, Repeats: len(g), Note: g[0].Note,
			Value: chart.Number(v.Median), Spread: chart.Number(v.Low) + "–" + chart.Number(v.High), Hit: none,
		}
		if hit, ok := meanHit(g); ok {
			row.Hit = fmt.Sprintf("%.4f", hit)
		}
		for _, s := range g {
			row.Misses += s.Misses
			row.Refused += s.Refused
			row.Dropped += s.Dropped
		}
		rows = append(rows, row)
	}
	return rows
}

// cachesOf lists versions and configurations of the caches that took part.
func cachesOf(runs []*samples.Run) [][]string {
	versions := make(map[string]string)
	for _, r := range runs {
		maps.Copy(versions, r.Versions)
	}
	versions[rivals.Firn] = "this tree"
	var rows [][]string
	for _, r := range rivals.All {
		if v, ok := versions[r.Name]; ok {
			rows = append(rows, []string{r.Name, v, r.Setup})
			delete(versions, r.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(versions)) {
		rows = append(rows, []string{name, versions[name], setups[name]})
	}
	return rows
}
