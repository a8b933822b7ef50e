package report

import (
	"fmt"
	"strings"

	"github.com/firncache/firn/bench/samples"
)

// The README has one table, of these figures:
const (
	readmeGet   = "get/zipf/n=10000000/value=64/goroutines=2" // of the suite ram
	readmeCycle = "cycle/n=10000000/value=64"                 // of the suite gc
)

// ReadmeSuites are the suites that the README's table is made of.
var ReadmeSuites = []string{"ram", "gc"}

// readmeRows are the caches in the README's table, with what they can do and what no
// suite measures.
var readmeRows = []struct{ name, expires, bound, beyondRAM string }{
	{"firn", "each entry", "bytes, all counted", "SSD"},
	{"fastcache", "no", "bytes", "no"},
	{"freecache", "each entry", "bytes", "no"},
	{"bigcache", "one time for all", "bytes", "no"},
	{"otter", "each entry", "entries or weight", "no"},
	{"ristretto", "each entry", "cost", "no"},
	{"theine", "each entry", "cost", "a secondary cache of yours"},
	{"xsync", "no", "none: a map", "no"},
	{"go-cache", "each entry", "none", "no"},
}

// Marks of the part of a document that holds the README's table.
const (
	readmeBegin = "<!-- table:begin -->\n"
	readmeEnd   = "<!-- table:end -->\n"
)

// ReplaceTable replaces the marked part of a document that others write by the
// README's table.
func ReplaceTable(document string, runs []*samples.Run) (string, error) {
	before, rest, ok := strings.Cut(document, readmeBegin)
	_, after, ok2 := strings.Cut(rest, readmeEnd)
	if !ok || !ok2 {
		return "", fmt.Errorf("no part between %q and %q", readmeBegin, readmeEnd)
	}
	return before + readmeBegin + readmeTable(runs) + readmeEnd + after, nil
}

// readmeTable is the table, with the day and the machine of its figures.
func readmeTable(runs []*samples.Run) string {
	var all []samples.Sample
	for _, r := range runs {
		all = append(all, r.Samples...)
	}
	var rows [][]string
	for _, c := range readmeRows {
		rows = append(rows, []string{c.name, readmeTime(all, c.name), readmeCell(all, readmeCycle, c.name, "ms"), c.expires, c.bound, c.beyondRAM})
	}
	head := []string{"10 million entries of 16 + 64 bytes", "a Get, zipf, 2 goroutines", "a garbage collection", "expiry", "bound", "beyond RAM"}
	r := runs[0]
	others := ""
	for _, o := range runs[1:] {
		others += fmt.Sprintf("; %s %s, %s", o.Suite, o.Started.Format("2006-01-02"), orUnknown(trademarks.Replace(o.Machine.CPU)))
	}
	return markdown(head, rows) + fmt.Sprintf("\n%s, %s%s; 2 ×: in turns, firn did two Gets while the rival did one.\n",
		r.Started.Format("2006-01-02"), machine(r.Machine), others)
}

// readmeTime is the time of firn's Get. Of a rival it is how many times as many firn did in the
// turns beside it: the quotient of the times, which were not all measured in the same turns, is
// another.
func readmeTime(all []samples.Sample, name string) string {
	if ratio := samples.Ratio(all, "ram", readmeGet, name); name != "firn" && ratio.Median > 0 {
		return fmt.Sprintf("%.1f ×", ratio.Median)
	}
	return readmeCell(all, readmeGet, name, "ns")
}

func readmeCell(all []samples.Sample, figure, name, unit string) string {
	found := samples.Select(all, samples.Filter{Name: figure, Cache: name})
	if len(found) == 0 {
		return none
	}
	return quantity(samples.Values(found).Median, unit)
}
