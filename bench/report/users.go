package report

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/firncache/firn/bench/chart"
	"github.com/firncache/firn/bench/samples"
	"github.com/firncache/firn/bench/users"
)

// usersSuite is the suite of whole workloads.
const usersSuite = "users"

// usersText says of the tables of workloads what differs.
var usersText = map[users.Table]string{
	users.Bytes: about() + " Timed are all operations of pages and features, and of the others one in 13, 29 and 101. " +
		"Byte caches have the same size; fastcache has none below 32 MiB. Behind the time of one that misses stands how many of its reads hit.",
	users.Objects: "Caches of Go values. firn is Typed, which copies and decodes each value; firn+front has a Front beside it, within the same memory. " +
		"otter, theine and ristretto count entries: as many as fit into the memory with what each costs them. xsync.Map and go-cache know no limit, and a program keeps the deadlines of xsync.Map.",
}

var usersTitles = map[users.Table]string{users.Bytes: "byte caches", users.Objects: "object caches"}

// about describes the workloads.
func about() string {
	var texts []string
	for _, w := range users.Workloads {
		texts = append(texts, "*"+w.Name+"*: "+w.Text+".")
	}
	return strings.Join(texts, " ")
}

// usersTables are the tables of all workloads on one kind of store.
func usersTables(t users.Table) []table {
	columns := caches(usersStores(t)...)
	of := func(metrics ...string) (rows []part) { // label and name of each metric
		for _, w := range users.Workloads {
			for i := 0; i < len(metrics); i += 2 {
				rows = append(rows, named(strings.TrimSpace(w.Name+" "+metrics[i]), w.Name+"/"+string(t)+"/"+regexp.QuoteMeta(metrics[i+1])))
			}
		}
		return rows
	}
	one := func(label, workload, metric string) part {
		return named(label, workload+"/"+string(t)+"/"+metric)
	}
	return []table{
		{
			suite: usersSuite, question: "How long does an operation take beside " + usersTitles[t] + "?", text: usersText[t] + " Memory is what is resident.",
			rows:    slices.Concat(of("", "op"), []part{one("pages that are loaded", "pages", "missing"), one("requests that the limiter forgot", "limiter", "lost")}, of("memory", "resident")),
			columns: columns,
		},
		{suite: usersSuite, question: "And the slowest?", rows: of("p99", "p99", "p99.9", "p99.9"), columns: columns},
		{
			suite: usersSuite, question: "What does it cost the program?", text: "Processor time of an operation, the background included, and the collector's share of all processors.",
			rows: of("CPU", "cpu", "GC", "gc-share"), columns: columns,
		},
	}
}

// usersStores lists the stores of a table, of all workloads.
func usersStores(t users.Table) []string {
	return users.Stores(users.Workloads[0], t) // the first runs on all of them
}

// Marks of the part of a document that is made of the suite of workloads.
const (
	usersBegin = "<!-- users:begin -->\n"
	usersEnd   = "<!-- users:end -->\n"
)

// ReplaceUsers replaces the marked part of a document that others write by the
// tables of the workloads.
func ReplaceUsers(document string, r *samples.Run) (string, error) {
	before, rest, ok := strings.Cut(document, usersBegin)
	_, after, ok2 := strings.Cut(rest, usersEnd)
	if !ok || !ok2 {
		return "", fmt.Errorf("no part between %q and %q", usersBegin, usersEnd)
	}
	return before + usersBegin + overview(r) + usersEnd + after, nil
}

// overview has a table of each kind of store, with a row for each workload.
func overview(r *samples.Run) string {
	var b strings.Builder
	for _, t := range users.Tables {
		stores := usersStores(t)
		var rows [][]string
		for _, w := range users.Workloads {
			rows = append(rows, overviewRow(r, w, t, stores))
		}
		b.WriteString(markdown(append([]string{usersTitles[t]}, stores...), rows))
	}
	return fmt.Sprintf("Operations a second, and the time below which 99.9 %% of them stay (%s, `%s` in bench, %s; each store in a process of its own, with the same memory):\n%s\n%s\n",
		r.Started.Format("2006-01-02"), command(r), machine(r.Machine), b.String(), about())
}

// overviewRow marks the store that does most operations.
func overviewRow(r *samples.Run, w users.Workload, t users.Table, stores []string) []string {
	row, best, least := []string{w.Name}, 0, math.Inf(1)
	for i, name := range stores {
		ns, ok := usersMedian(r, w, t, name, "op")
		if !ok {
			row = append(row, none)
			continue
		}
		if ns < least {
			best, least = i+1, ns
		}
		slow, _ := usersMedian(r, w, t, name, "p99.9")
		row = append(row, chart.Number(1e9/ns)+", "+quantity(slow, "ns"))
	}
	if best > 0 {
		row[best] = "**" + row[best] + "**"
	}
	return row
}

// usersMedian is the median of one figure of a store.
func usersMedian(r *samples.Run, w users.Workload, t users.Table, store, metric string) (float64, bool) {
	found := samples.Select(r.Samples, samples.Filter{Name: w.Name + "/" + string(t) + "/" + metric, Cache: store})
	return samples.Values(found).Median, len(found) > 0
}
