// Package report writes docs/BENCHMARKS.md from the results of the suites.
package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/firncache/firn/bench/rivals"
	"github.com/firncache/firn/bench/samples"
)

// Write prints the report on the given runs, at most one of each suite. Parts
// whose suite is missing are left out.
func Write(w io.Writer, runs []*samples.Run) error {
	p := &page{}
	var all []samples.Sample
	for _, r := range runs {
		all = append(all, r.Samples...)
	}
	p.add(intro)
	p.runs(runs)
	p.targets(all)
	p.classic(all)
	p.matrix(all, "ram", "The matrix", matrixText)
	p.matrix(all, "large", "Values of 1 KiB", largeText)
	p.memory(all)
	p.readable(all)
	for _, r := range runs {
		switch r.Suite {
		case "gc", "hitratio", "hybrid", "bufpool":
			p.pivot(r)
		case "casestudies":
			p.listed(r)
		}
	}
	p.rivals(runs)
	_, err := io.WriteString(w, p.b.String())
	return err
}

// A page collects the report's text.
type page struct{ b strings.Builder }

func (p *page) add(format string, args ...any) { fmt.Fprintf(&p.b, format, args...) }

// table prints a table in Markdown. The first columns, as many as left says,
// are aligned left, the others right.
func (p *page) table(left int, head []string, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	p.add("| %s |\n|%s%s\n", strings.Join(head, " | "), strings.Repeat("---|", left), strings.Repeat("--:|", len(head)-left))
	for _, row := range rows {
		p.add("| %s |\n", strings.Join(row, " | "))
	}
	p.add("\n")
}

// runs prints where and how the suites ran.
func (p *page) runs(runs []*samples.Run) {
	p.add("## Where and how\n\n")
	if len(runs) == 0 {
		p.add("No results.\n\n")
		return
	}
	m := runs[0].Machine
	p.add("%s, GOMAXPROCS %d, %.0f GiB, %s %s (kernel %s), transparent huge pages %s, %s.\n\n",
		orUnknown(m.CPU), m.Procs, m.MemoryGiB, m.OS, m.Arch, orUnknown(m.Kernel), orUnknown(bracketed(m.HugePages)), m.Go)
	var rows [][]string
	for _, r := range runs {
		rows = append(rows, []string{
			r.Suite, "`cd bench && " + r.Command + "`", fmt.Sprint(r.Entries), fmt.Sprint(r.Repeats), r.Started.Format("2006-01-02 15:04"), fmt.Sprintf("%.1f min", r.Seconds/60),
		})
	}
	p.table(2, []string{"suite", "command", "entries", "repeats", "started (UTC)", "took"}, rows)
	for _, r := range runs {
		p.add("- %s: %s.\n", r.Suite, noiseText(r.Noise))
	}
	p.add("\n")
}

// bracketed returns the setting that the kernel marks with brackets.
func bracketed(s string) string {
	if _, rest, ok := strings.Cut(s, "["); ok {
		s, _, _ = strings.Cut(rest, "]")
	}
	return s
}

func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}

// rivals prints versions and configurations.
func (p *page) rivals(runs []*samples.Run) {
	versions := make(map[string]string)
	for _, r := range runs {
		maps.Copy(versions, r.Versions)
	}
	p.add("## The caches\n\n%s", rivalsText)
	var rows [][]string
	for _, r := range rivals.All {
		v := versions[r.Name]
		if r.Name == rivals.Firn {
			v = "this tree"
		}
		rows = append(rows, []string{r.Name, v, r.Setup})
	}
	rows = append(rows, []string{"phuslu/lru", "–", "not measured: its module could not be downloaded where these figures were made"})
	p.table(3, []string{"cache", "version", "configuration"}, rows)
}

// names lists the names of the suite's samples that took turns with the rival,
// in the order of the run.
func names(all []samples.Sample, suite, rival string) []string {
	var out []string
	for _, s := range samples.Select(all, samples.Filter{Suite: suite, Cache: rivals.Firn, Against: rival}) {
		if !slices.Contains(out, s.Name) {
			out = append(out, s.Name)
		}
	}
	return out
}
