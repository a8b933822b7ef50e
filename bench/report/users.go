package report

import (
	"regexp"
	"slices"
	"strings"

	"github.com/firncache/firn/bench/users"
)

// usersSuite is the suite of whole workloads.
const usersSuite = "users"

// usersText says of the tables of workloads what differs.
var usersText = map[users.Table]string{
	users.Bytes: about() + " Timed are all operations of pages and features, and of the others one in 13, 29 and 101. " +
		"Byte caches have the same size; fastcache has none below 32 MiB. Behind the time of one that misses stands how many of its reads hit.",
	users.Objects: "Caches of Go values. firn is Typed with nothing set, and structs as values; it counts by Increment, the others by an atomic number behind a pointer. firn+hot is Typed with HotValues, ReadOnly (nothing changes what a Get returns), pointers as values, a codec by hand, and a GOMEMLIMIT by which garbage has as much memory as if the budget lay on the heap. " +
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
	slow, share := []string{"p99.9", "p99.9"}, ""
	if t == users.Objects {
		slow, share = append(slow, "GC", "gc-share"), ", and the collector's share of all processors"
	}
	return []table{
		{
			suite: usersSuite, question: "How long does an operation take beside " + usersTitles[t] + "?", text: usersText[t] + " Memory is what is resident.",
			rows:    slices.Concat(of("", "op"), []part{one("pages that are loaded", "pages", "missing"), one("requests that the limiter forgot", "limiter", "lost")}, of("memory", "resident")),
			columns: columns,
		},
		{suite: usersSuite, question: "And the slowest?", text: "The time below which 99.9 % stay" + share + ".", rows: of(slow...), columns: columns},
	}
}

// usersStores lists the stores of a table, of all workloads.
func usersStores(t users.Table) []string {
	return users.Stores(users.Workloads[0], t) // the first runs on all of them
}
