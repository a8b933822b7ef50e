package report

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firncache/firn/bench/samples"
)

// pair returns the turns of firn and a rival that takes factor times as long.
func pair(suite, name, rival string, factor, hit float64) []samples.Sample {
	var all []samples.Sample
	for i, ns := range []float64{100, 200, 300} { // the machine slows down
		all = append(all,
			samples.Sample{Suite: suite, Name: name, Cache: "firn", Against: rival, Repeat: i, Ops: 1, Value: ns, Unit: "ns/op", Hit: &hit},
			samples.Sample{Suite: suite, Name: name, Cache: rival, Against: "firn", Repeat: i, Ops: 1, Value: factor * ns, Unit: "ns/op", Hit: &hit})
	}
	return all
}

func value(suite, name, cache, unit string, values ...float64) []samples.Sample {
	var all []samples.Sample
	for i, v := range values {
		all = append(all, samples.Sample{Suite: suite, Name: name, Cache: cache, Repeat: i, Ops: 1, Value: v, Unit: unit})
	}
	return all
}

func run(suite string, groups ...[]samples.Sample) *samples.Run {
	return &samples.Run{
		Suite: suite, Command: "go run . -suite " + suite + " -out results", Entries: 10, Repeats: 3, Started: time.Date(2026, 11, 21, 4, 0, 0, 0, time.UTC),
		Machine: samples.Machine{CPU: "Xeon(R) Processor", Procs: 2, MemoryGiB: 24, Go: "go1.26"}, Noise: &samples.Noise{Others: 7},
		Versions: map[string]string{"xsync": "v4.5.0"}, Samples: slices.Concat(groups...),
	}
}

func write(t *testing.T, r *samples.Run) string {
	t.Helper()
	var b strings.Builder
	if err := Write(&b, []*samples.Run{r}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func render(t *testing.T, suite string, groups ...[]samples.Sample) string {
	t.Helper()
	return write(t, run(suite, groups...))
}

func want(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in:\n%s", part, text)
		}
	}
}

func TestTables(t *testing.T) {
	unsteady := pair("ram", "get/zipf/n=10/value=64/goroutines=64", "fastcache", 2, 1)
	for i := range unsteady {
		if s := &unsteady[i]; s.Cache != "firn" {
			s.Value *= []float64{0.5, 1, 1.5}[s.Repeat]
		}
	}
	text := render(t, "ram", unsteady,
		pair("ram", "get/zipf/n=10/value=64/goroutines=1", "fastcache", 2.5, 1),
		pair("ram", "get/uniform/n=10/value=64/goroutines=2", "fastcache", 30, 0.9375),
		pair("ram", "get/absent/n=10/value=64/goroutines=2", "otter", 0.8, 0),
		pair("ram", "set/zipf/n=10/value=64/goroutines=2", "map", 3000, 1),
		pair("ram", "get/zipf/n=10/value=64/goroutines=128", "fastcache", 2, 1),
	)
	want(t, text,
		"| Get, zipf, 1 g | 200 ns | 500 ns 2.50× | – | – |", "| Get, zipf, 64 g | 200 ns | 400 ns 2.00× (1.50–2.50) |", "| Get, uniform, 2 g | 200 ns | 6 µs 30.0×, 94 % hits | – | – |",
		"| Get, absent key, 2 g | 200 ns | – | 160 ns **0.80×** | – |", "| map | – | 600 µs 3000× |",
		"`go run . -suite ram`, 2026-11-21, Xeon, 2 processors, 24 GiB, go1.26, **busy: others took 7 %**.", "xsync v4.5.0",
	)
	for _, bad := range []string{"\n| xsync |", "128", "latency", "## SSD"} {
		if strings.Contains(text, bad) {
			t.Errorf("%q in:\n%s", bad, text)
		}
	}
	text = render(t, "memory",
		value("memory", "overhead/n=10/value=64", "firn", "B/entry", 20), value("memory", "slowest-set/n=10/value=64", "fastcache", "ms", 98, 99, 7),
		value("memory", "forced-gc/n=10/value=64", "firn", "ms", -0.1, 0.1, -0.2))
	want(t, text, "| firn | 20 B | -0.1 ms | – | – | – |", "| fastcache | – | – | – | 98 ms | – |")
	text = render(t, "hybrid",
		value("hybrid", "get/zipf/times=5/n=10/value=256/inflight=8", "firn", "ns/op", 100), value("hybrid", "get/zipf/times=5/n=10/value=256/inflight=8", "pebble", "ns/op", 250),
		value("hybrid", "written/load/value=256", "firn", "bytes/byte", 1.08))
	want(t, text, "| 8 | 100 ns | 250 ns 2.50× | – |", "| Load | 1.08 | – | – | – |")
}

// TestTablesAreShort: no table of the document has more than twelve rows, and
// each answers a question.
func TestTablesAreShort(t *testing.T) {
	for _, table := range tables {
		if len(table.rows) > 12 || !strings.HasSuffix(table.question, "?") || titles[table.suite] == "" {
			t.Errorf("%s: %d rows, suite %q; expected a question, at most 12 rows and a suite with a title", table.question, len(table.rows), table.suite)
		}
	}
}

// TestShown: what is kept beside a document makes the same document.
func TestShown(t *testing.T) {
	r := run("ram", pair("ram", "get/zipf/n=10/value=64/goroutines=1", "otter", 2, 1), pair("ram", "get/zipf/n=10/value=64/goroutines=3", "otter", 2, 1))
	r.Notes = []string{"Each trace is replayed.", "Left out: 50 million."}
	dir := t.TempDir()
	if err := Shown(r).SaveText(dir); err != nil {
		t.Fatal(err)
	}
	kept, err := samples.ReadText(filepath.Join(dir, "ram.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if len(kept.Samples) != 2 || len(kept.Notes) != 1 {
		t.Errorf("%d samples, notes %q; expected the medians of the one cell that a table shows, and what was left out", len(kept.Samples), kept.Notes)
	}
	r.Notes = kept.Notes
	if a, b := write(t, r), write(t, kept); a != b {
		t.Errorf("from the run:\n%s\nfrom what was kept:\n%s", a, b)
	}
}

// TestUsers: the tables of the workloads.
func TestUsers(t *testing.T) {
	hit := 0.9
	r := run("users",
		value("users", "sessions/bytes/op", "firn", "ns/op", 500), value("users", "sessions/bytes/op", "fastcache", "ns/op", 1000),
		value("users", "sessions/bytes/p99.9", "firn", "ns", 2500), value("users", "sessions/bytes/p99.9", "fastcache", "ns", 5000),
		value("users", "sessions/objects/op", "firn+hot", "ns/op", 250), value("users", "pages/objects/missing", "otter", "%", 20))
	for i := range r.Samples {
		if r.Samples[i].Cache == "fastcache" {
			r.Samples[i].Hit = &hit
		}
	}
	want(t, write(t, r), "## What users feel", "| sessions | 500 ns | 1 µs 2.00×, 90 % hits | – | – |", "| sessions p99.9 | 2.5 µs | 5 µs 2.00×, 90 % hits |",
		"| sessions | – | 250 ns | – |", "| pages that are loaded | – | – | 20 % |")
}

// TestReadme: the part of another document, with figures of two suites.
func TestReadme(t *testing.T) {
	runs := []*samples.Run{
		run("ram", value("ram", readmeGet, "firn", "ns/op", 80), value("ram", readmeGet, "otter", "ns/op", 250)),
		run("gc", value("gc", readmeCycle, "firn", "ms", 2.5), value("gc", readmeCycle, "otter", "ms", 900)),
	}
	text, err := ReplaceTable("before\n"+readmeBegin+"old\n"+readmeEnd+"after\n", runs)
	if err != nil || !strings.HasPrefix(text, "before\n"+readmeBegin) || !strings.HasSuffix(text, readmeEnd+"after\n") || strings.Contains(text, "old") {
		t.Errorf("%v; expected that what is between the marks is replaced:\n%s", err, text)
	}
	want(t, text, "| firn | 80 ns | 2.5 ms | each entry | ", "| otter | 250 ns", " | 900 ms | each entry | ", "| go-cache | – | – | ")
	if _, err := ReplaceTable("no marks", runs); err == nil {
		t.Error("a document without marks was taken")
	}
}
