package main

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/firncache/firn/bench/hybrid"
	"github.com/firncache/firn/bench/report"
	"github.com/firncache/firn/bench/samples"
	"github.com/firncache/firn/bench/shared"
)

// TestMain lets the test binary stand in for the program when the driver
// starts its child processes.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && kinds[os.Args[1]].run != nil {
		main()
		return
	}
	os.Exit(m.Run())
}

// TestAllSuites runs everything in small, and writes the report from it.
func TestAllSuites(t *testing.T) {
	dir := t.TempDir()
	var progress strings.Builder
	args := []string{"-suite", "all", "-n", "2000", "-repeats", "2", "-rivals", "fastcache,otter,xsync,map-fixed", "-out", dir}
	if err := run(args, &progress, os.Stderr); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(progress.String(), "left]") {
		t.Errorf("no time left in the progress:\n%.500s", progress.String())
	}
	for _, suite := range possible() {
		r, err := samples.Load(filepath.Join(dir, suite+".json"))
		if err != nil {
			t.Fatal(err)
		}
		checkSamples(t, r)
	}
	checkReport(t, dir)
	checkHTML(t, dir)
}

// checkSamples wants every job's samples, complete and sensible.
func checkSamples(t *testing.T, r *samples.Run) {
	t.Helper()
	if r.Entries != 2000 || r.Repeats != 2 || strings.Contains(r.Command, "all") {
		t.Errorf("%s: %d entries, %d repeats, command %q; expected what was asked, of this suite alone", r.Suite, r.Entries, r.Repeats, r.Command)
	}
	want := []string{"fastcache", "otter", "xsync"}
	switch r.Suite {
	case "hitratio":
		want = []string{"firn", "otter"} // of the rivals asked for, the one that it knows
	case "curve":
		want = []string{"firn"}
	case "hybrid":
		want = hybrid.Names()
	case "shared":
		want = shared.Names()
	case "users":
		want = []string{"firn", "firn+hot", "fastcache", "otter", "xsync"}
	case "bufpool":
		want = []string{"firn", "sync.Pool", "io.ReadAll"}
	case "casestudies":
		want = []string{"typed-field", "buffer-passed-in", "firn-bufpool"}
	}
	for _, rival := range want {
		if len(samples.Select(r.Samples, samples.Filter{Cache: rival})) == 0 {
			t.Errorf("%s: no results of %s", r.Suite, rival)
		}
	}
	for _, s := range r.Samples {
		if s.Suite != r.Suite || s.Unit == "" || s.Ops < 1 || s.Unit == "ns/op" && s.Value <= 0 {
			t.Errorf("%s: %+v makes no sense", r.Suite, s)
		}
		if s.Hit != nil && strings.HasPrefix(s.Name, "get/zipf") && *s.Hit < 0.99 {
			t.Errorf("%s: %s on %s: hit ratio %v; expected all entries to fit", r.Suite, s.Name, s.Cache, *s.Hit)
		}
		if s.Hit != nil && strings.HasPrefix(s.Name, "get/absent") && *s.Hit != 0 {
			t.Errorf("%s: %s on %s: hit ratio %v; expected none", r.Suite, s.Name, s.Cache, *s.Hit)
		}
	}
}

// checkHTML wants a report that needs nothing but itself, with a section and a
// chart for each suite.
func checkHTML(t *testing.T, dir string) {
	t.Helper()
	body, err := os.ReadFile(filepath.Join(dir, htmlFile))
	if err != nil {
		t.Fatal(err)
	}
	page := string(body)
	for _, bad := range []string{"<script", "src=", "<link", "@import", "url(", "https://"} {
		if strings.Contains(page, bad) {
			t.Errorf("the report contains %q", bad)
		}
	}
	if rest := strings.ReplaceAll(page, "http://www.w3.org/2000/svg", ""); strings.Contains(rest, "http://") {
		t.Error("the report points into the network")
	}
	for _, suite := range possible() {
		_, section, ok := strings.Cut(page, `<section id="`+suite+`">`)
		section, _, _ = strings.Cut(section, "</section>")
		chart := suite == "curve" || strings.Contains(section, "<svg") // that has a table alone
		if !ok || !chart || !strings.Contains(section, "-suite "+suite) || !strings.Contains(section, "Noise: ") {
			t.Errorf("no section with chart, command and noise for %s", suite)
		}
	}
	images := filepath.Join(dir, "img")
	var text strings.Builder
	if err := run([]string{"report", "-in", dir, "-svg", images}, &text, os.Stderr); err != nil {
		t.Fatal(err)
	}
	if err := run([]string{"-compare", filepath.Join(dir, "classic.json"), "-out", dir}, &text, os.Stderr); err != nil {
		t.Fatal(err)
	}
	if files, err := filepath.Glob(filepath.Join(images, "*.svg")); err != nil || len(files) < 2 {
		t.Errorf("%v, %v; expected the main charts", files, err)
	}
	if !strings.Contains(text.String(), "ratio") {
		t.Errorf("no ratio in what benchstat says:\n%s", &text)
	}
}

// checkReport wants a document with every suite that has a table, also from
// what was kept beside an earlier one.
func checkReport(t *testing.T, dir string) {
	t.Helper()
	doc := filepath.Join(t.TempDir(), "BENCHMARKS.md")
	readme := filepath.Join(t.TempDir(), "README.md")
	if err := os.WriteFile(readme, []byte("<!-- table:begin -->\n<!-- table:end -->\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, args := range [][]string{{"report", "-in", dir, "-doc", doc, "-readme", readme}, {"report", "-doc", doc, "-readme", readme}} {
		if err := run(args, io.Discard, os.Stderr); err != nil {
			t.Fatal(err)
		}
		body, err := os.ReadFile(doc)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(body))
	}
	if texts[0] != texts[1] {
		t.Errorf("from the results:\n%s\nfrom what was kept of them:\n%s", texts[0], texts[1])
	}
	if body, err := os.ReadFile(readme); err != nil || !strings.Contains(string(body), "| firn | ") {
		t.Errorf("%v; no table in\n%s", err, body)
	}
	for _, part := range []string{"## What users feel", "| limiter memory | ", "| sessions p99.9 | ", "## fastcache's own", "## RAM", "| Get, zipf, 2 g | ", "| GetMulti, uniform, 1 g | ", "| map-fixed | ", "## Large values", "## Memory", "## The garbage", "## Hit ratios", "## The curve of other sizes", "| steady | ", "## SSD", "| Load | "} {
		if !strings.Contains(texts[0], part) {
			t.Errorf("no %q in:\n%s", part, texts[0])
		}
	}
}

// TestSmallRunReplacesNothing: figures of a document stay when a run with fewer
// entries comes.
func TestSmallRunReplacesNothing(t *testing.T) {
	dir := t.TempDir()
	save := func(in string, entries int) {
		hit := 1.0
		r := samples.Run{
			Suite: "ram", Command: "go run . -suite ram", Started: time.Now().UTC(), Entries: entries, Repeats: 1, Machine: samples.ThisMachine(), Versions: map[string]string{"firn": "Go"},
			Samples: []samples.Sample{{Suite: "ram", Name: "get/zipf/n=9/value=64/goroutines=2", Cache: "firn", Against: "otter", Ops: 1, Value: float64(entries), Unit: "ns/op", Hit: &hit}},
		}
		if err := r.Save(filepath.Join(dir, in)); err != nil {
			t.Fatal(err)
		}
	}
	save("large", 900)
	save("small", 90)
	doc := filepath.Join(dir, "B.md")
	if err := run([]string{"report", "-in", filepath.Join(dir, "large"), "-doc", doc}, io.Discard, os.Stderr); err != nil {
		t.Fatal(err)
	}
	err := run([]string{"report", "-in", filepath.Join(dir, "small"), "-doc", doc}, io.Discard, os.Stderr)
	if err == nil || !strings.Contains(err.Error(), "has 900 entries: results with 90 do not replace it") {
		t.Errorf("%v; expected that the small run is refused", err)
	}
	if body, err := os.ReadFile(doc); err != nil || !strings.Contains(string(body), "| 900 ns |") {
		t.Errorf("%v; the figures are gone from\n%s", err, body)
	}
}

// TestDocument: docs/BENCHMARKS.md is what report makes of docs/bench, and its
// charts are there.
func TestDocument(t *testing.T) {
	want, err := os.ReadFile("../docs/BENCHMARKS.md")
	if err != nil {
		t.Fatal(err)
	}
	runs, err := loadRuns("../docs/bench", ".txt", samples.ReadText)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	if err := report.Write(&got, runs); err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("docs/BENCHMARKS.md is not what its figures make: run `go run . report -doc ../docs/BENCHMARKS.md`")
	}
	checkReadme(t)
	for _, link := range regexp.MustCompile(`\((img/[^)]*)\)`).FindAllSubmatch(want, -1) {
		if info, err := os.Stat(filepath.Join("../docs", string(link[1]))); err != nil || info.Size() > 10_000 {
			t.Errorf("%s: %v; expected a file of at most 10 KB", link[1], err)
		}
	}
}

// checkReadme: so is the table of the README.
func checkReadme(t *testing.T) {
	t.Helper()
	const file = "../README.md"
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(t.TempDir(), "README.md")
	if err := os.WriteFile(copied, before, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := writeReadme(copied, "../docs/BENCHMARKS.md"); err != nil {
		t.Fatal(err)
	}
	if after, err := os.ReadFile(copied); err != nil || string(after) != string(before) {
		t.Errorf("%v; the table of README.md is not what docs/bench makes: run `go run . report -doc ../docs/BENCHMARKS.md -readme ../README.md`", err)
	}
}

func TestRefuses(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"-suite disk", "quick or all"},
		{"-suite ram -rivals memcached", "expected one of bigcache, fastcache"},
		{"-suite ram -rivals firn", "firn always takes part"},
		{"-suite ram -n 0", "-n 0: expected at least 1"},
		{"-suite ram -repeats -1", "-repeats -1: expected at least 1"},
		{"-suite ram -n 2000000000", "give a smaller -n"},
		{"-suite ram extra", "expected only flags"},
		{"warm", "expected report, replay, big"},
		{"pair -rival memcached", "expected one of fastcache"},
		{"pair -value-size 0", "-value-size 0: expected at least 1"},
		{"report -in /nowhere", "no results; expected one of users.json"},
		{"report -doc /nowhere/B.md", "no results; expected one of users.txt"},
		{"report", "no results; expected one of users.json"},
		{"-compare /nowhere/ram.json", "expected two runs of one suite"},
		{"-suite hybrid -rivals leveldb", "expected one of badger, bbolt, pebble, sqlite"},
		{"-suite hybrid -n 2000000000 -out " + t.TempDir(), "of disk needed"},
		{"hybrid-run -rival pebble -param 5", "expected NUMBER:DIRECTORY"},
	} {
		err := run(strings.Fields(c.args), io.Discard, io.Discard)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("bench %s: %v; expected an error with %q", c.args, err, c.want)
		}
	}
}

// TestBadTraces: a directory without traces, or with an empty one, ends a run
// before it begins.
func TestBadTraces(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("FIRN_TRACES", dir)
	refuses := func(want string) {
		t.Helper()
		if err := run([]string{"-suite", "hitratio", "-out", t.TempDir()}, io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; expected an error with %q", err, want)
		}
	}
	refuses("no traces")
	if err := os.WriteFile(filepath.Join(dir, "empty.trc"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	refuses("empty.trc")
}

// TestJobArguments holds args and parseJob together.
func TestJobArguments(t *testing.T) {
	o, err := newOptions("all", "", t.TempDir(), 10_000_000, 8)
	if err != nil {
		t.Fatal(err)
	}
	for _, suite := range suiteNames {
		jobs, err := o.jobs(suite)
		if err != nil || len(jobs) == 0 {
			t.Errorf("%s: %d jobs, %v; expected some", suite, len(jobs), err)
		}
		for _, want := range jobs {
			args := want.args()
			if got, err := parseJob(args[0], args[1:], io.Discard); err != nil || got != want {
				t.Errorf("parseJob(%q) = %+v, %v; expected %+v", args, got, err, want)
			}
		}
	}
}

// TestWindowsFit: every turn's window lies within the stream, and turns that
// follow each other have different ones.
func TestWindowsFit(t *testing.T) {
	for _, n := range []int{1, 1000, 100_000, 10_000_000} {
		for _, size := range []int{64, 1024} {
			j := job{Suite: "ram", Kind: "pair", Rival: "fastcache", Entries: n, ValueSize: size, Repeats: 8}
			for _, c := range j.cells() {
				if ops := j.ops(c.Goroutines); 2*ops > j.streamLen() || ops < 1<<16 {
					t.Errorf("n=%d, %d goroutines: %d operations of a stream of %d", n, c.Goroutines, ops, j.streamLen())
				}
			}
		}
	}
}
