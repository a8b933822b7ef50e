package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/firncache/firn/bench/rivals"
	"github.com/firncache/firn/bench/samples"
)

// classic prints fastcache's own benchmark: a row for each rival.
func (p *page) classic(all []samples.Sample) {
	p.add("## fastcache's own benchmark\n\n%s", classicText)
	ops := []string{"Get", "Set", "SetGet"}
	var rows [][]string
	for _, rival := range rivals.Names() {
		row := []string{rival}
		for _, op := range ops {
			for _, name := range names(all, "classic", rival) {
				if strings.HasPrefix(name, op+"/") {
					row = append(row, pairFigures(all, "classic", name, rival)...)
				}
			}
		}
		if len(row) > 1 {
			rows = append(rows, row)
		}
	}
	p.table(1, []string{"rival", "Get: firn", "rival", "ratio", "Set: firn", "rival", "ratio", "SetGet: firn", "rival", "ratio"}, rows)
}

// pairFigures returns the times of firn and the rival in one cell, and their
// ratio with its quartiles.
func pairFigures(all []samples.Sample, suite, name, rival string) []string {
	first := samples.Values(samples.Select(all, samples.Filter{Suite: suite, Name: name, Cache: rivals.Firn, Against: rival}))
	second := samples.Values(samples.Select(all, samples.Filter{Suite: suite, Name: name, Cache: rival, Against: rivals.Firn}))
	ratio := samples.Ratio(all, suite, name, rivals.Firn, rival)
	return []string{
		fmt.Sprintf("%.1f", first.Median), fmt.Sprintf("%.1f", second.Median),
		fmt.Sprintf("%s (%.2f–%.2f)", mark(ratio.Median), ratio.Low, ratio.High),
	}
}

// mark prints a ratio, in bold where firn is the slower one.
func mark(ratio float64) string {
	if ratio < 1 {
		return fmt.Sprintf("**%.2f×**", ratio)
	}
	return fmt.Sprintf("%.2f×", ratio)
}

// matrix prints one table for each rival of a suite of pairs.
func (p *page) matrix(all []samples.Sample, suite, title, text string) {
	p.add("## %s\n\n%s", title, text)
	for _, rival := range rivals.Names() {
		var rows [][]string
		for _, name := range names(all, suite, rival) {
			if strings.Contains(name, "goroutines=") {
				row := append([]string{cellName(name)}, pairFigures(all, suite, name, rival)...)
				rows = append(rows, append(row, hits(all, suite, name, rivals.Firn, rival), hits(all, suite, name, rival, rivals.Firn)))
			}
		}
		if len(rows) == 0 {
			continue
		}
		p.add("### Beside %s\n\n", rival)
		p.table(1, []string{"cell", "firn, ns", rival + ", ns", "ratio", "firn hits", rival + " hits"}, rows)
		p.kept(all, suite, rival)
	}
}

// hits returns the mean hit ratio of one cache in one cell.
func hits(all []samples.Sample, suite, name, cache, against string) string {
	return meanHit(samples.Select(all, samples.Filter{Suite: suite, Name: name, Cache: cache, Against: against}))
}

// meanHit returns the mean hit ratio of the samples that have one.
func meanHit(all []samples.Sample) string {
	var sum float64
	count := 0
	for _, s := range all {
		if s.Hit != nil {
			sum += *s.Hit
			count++
		}
	}
	if count == 0 {
		return "–"
	}
	return fmt.Sprintf("%.4f", sum/float64(count))
}

// kept prints what was readable at the end and what was refused.
func (p *page) kept(all []samples.Sample, suite, rival string) {
	var parts []string
	for _, pair := range [][2]string{{rivals.Firn, rival}, {rival, rivals.Firn}} {
		var refused int64
		for _, s := range samples.Select(all, samples.Filter{Suite: suite, Cache: pair[0], Against: pair[1]}) {
			refused += s.Refused
			if strings.HasPrefix(s.Name, "kept/") {
				parts = append(parts, fmt.Sprintf("%s %.2f %%", pair[0], s.Value))
			}
		}
		if refused > 0 {
			parts = append(parts, fmt.Sprintf("%s refused %d Sets", pair[0], refused))
		}
	}
	if len(parts) > 0 {
		p.add("Entries readable after all cells: %s.\n\n", strings.Join(parts, ", "))
	}
}

// memoryColumns are the measurements of the memory suite, in the order of its
// table.
var memoryColumns = []struct{ name, title, format string }{
	{"overhead", "bytes per entry beyond key and value", "%.1f"},
	{"forced-gc", "forced GC above an empty process, ms", "%.1f"},
	{"gc-share", "CPU share of GC beside an allocating load, %", "%.1f"},
	{"alloc-rate", "garbage that load makes, MB/s", "%.0f"},
	{"slowest-set-filling", "slowest Set while filling, ms", "%.2f"},
	{"slowest-set", "slowest Set under churn, ms", "%.2f"},
	{"slowest-nothing", "slowest of nothing, ms", "%.2f"},
}

// memory prints what the caches cost: a row for each.
func (p *page) memory(all []samples.Sample) {
	p.add("## Memory, the collector, the slowest Set\n\n%s", memoryText)
	head := []string{"cache"}
	for _, c := range memoryColumns {
		head = append(head, c.title)
	}
	p.table(1, append(head, "entries held"), cacheRows(all, "memory", memoryRow))
}

// cacheRows asks for a row for each cache with results in the suite.
func cacheRows(all []samples.Sample, suite string, row func([]samples.Sample) []string) [][]string {
	var rows [][]string
	for _, r := range rivals.All {
		own := slices.DeleteFunc(samples.Select(all, samples.Filter{Suite: suite, Cache: r.Name}),
			func(s samples.Sample) bool { return s.Against != "" })
		if len(own) > 0 {
			rows = append(rows, append([]string{r.Name}, row(own)...))
		}
	}
	return rows
}

func memoryRow(own []samples.Sample) []string {
	var row []string
	held := "–"
	for _, c := range memoryColumns {
		var values []float64
		for _, s := range own {
			if name, _, _ := strings.Cut(s.Name, "/"); name == c.name {
				values = append(values, s.Value)
				if s.Hit != nil {
					held = fmt.Sprintf("%.2f %%", 100**s.Hit)
				}
			}
		}
		row = append(row, memoryCell(c.name, c.format, values))
	}
	return append(row, held)
}

// memoryCell prints the median, and the worst round of the slowest operations.
func memoryCell(name, format string, values []float64) string {
	if len(values) == 0 {
		return "–"
	}
	median := fmt.Sprintf(format, samples.SpreadOf(values).Median)
	if len(values) > 1 && strings.HasPrefix(name, "slowest") {
		return fmt.Sprintf("%s (worst "+format+")", median, slices.Max(values))
	}
	return median
}

// readable prints how many large values survive in a small cache.
func (p *page) readable(all []samples.Sample) {
	p.add("## Large values in a small cache\n\n%s", readableText)
	sizes := []string{"readable/value=307200", "readable/value=1048576"}
	rows := cacheRows(all, "large", func(own []samples.Sample) []string {
		var row []string
		for _, size := range sizes {
			for _, s := range samples.Select(own, samples.Filter{Name: size}) {
				row = append(row, fmt.Sprintf("%.0f", s.Value), fmt.Sprint(s.Refused))
			}
		}
		return row
	})
	p.table(1, []string{"cache", "300 KB: readable, %", "refused", "1 MB: readable, %", "refused"}, rows)
}

// pivot prints a suite as a table with a row for each measurement and a column
// for each cache; listed prints it with a row for each of both.
func (p *page) pivot(r *samples.Run) {
	p.add("## %s\n\n%s\n\n", r.Suite, suiteTexts[r.Suite])
	rows := figureRows(r.Samples)
	var names, caches []string
	cells := make(map[[2]string]string)
	for _, row := range rows {
		name := row.Name + ", " + row.Unit
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
		if !slices.Contains(caches, row.Cache) {
			caches = append(caches, row.Cache)
		}
		cells[[2]string{name, row.Cache}] = row.Value
	}
	slices.SortStableFunc(caches, func(a, b string) int { return rank(a) - rank(b) })
	var table [][]string
	for _, name := range names {
		line := []string{name}
		for _, c := range caches {
			line = append(line, cmp.Or(cells[[2]string{name, c}], "–"))
		}
		table = append(table, line)
	}
	p.table(1, append([]string{"median"}, caches...), table)
	for _, note := range r.Notes {
		p.add("- %s\n", note)
	}
	p.add("\n")
}

func (p *page) listed(r *samples.Run) {
	p.add("## %s\n\n%s\n\n", r.Suite, suiteTexts[r.Suite])
	var table [][]string
	for _, row := range figureRows(r.Samples) {
		table = append(table, []string{row.Name, row.Cache, row.Value + " " + row.Unit, row.Spread, row.Note})
	}
	p.table(2, []string{"what", "how", "median", "quartiles", "of"}, table)
}
