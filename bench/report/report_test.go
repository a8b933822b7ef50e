package report

import (
	"fmt"
	"strings"
	"testing"

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

func render(t *testing.T, groups ...[]samples.Sample) string {
	t.Helper()
	r := &samples.Run{Suite: "ram", Command: "go run . -suite ram", Entries: 10, Repeats: 3}
	for _, g := range groups {
		r.Samples = append(r.Samples, g...)
	}
	var b strings.Builder
	if err := Write(&b, []*samples.Run{r}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func wantRows(t *testing.T, text string, rows ...string) {
	t.Helper()
	for _, row := range rows {
		if !strings.Contains(text, row) {
			t.Errorf("no row %q in:\n%s", row, text)
		}
	}
}

func TestFigures(t *testing.T) {
	text := render(t,
		pair("ram", "get/zipf/n=10/value=64/goroutines=1", "fastcache", 2.5, 1),
		pair("ram", "get/uniform/n=10/value=64/goroutines=2", "fastcache", 3, 0.9375),
		pair("ram", "get/absent/n=10/value=64/goroutines=2", "fastcache", 4, 0),
		pair("ram", "get/zipf/n=10/value=64/goroutines=2", "otter", 0.8, 1),
		value("ram", "kept/n=10/value=64", "firn", "%", 100),
		value("memory", "overhead/n=10/value=64", "firn", "B/entry", 20),
		value("memory", "slowest-set/n=10/value=64", "firn", "ms", 0.5, 0.2, 7),
		value("memory", "slowest-set/n=10/value=64", "fastcache", "ms", 98, 99, 7),
		value("memory", "forced-gc/n=10/value=64", "firn", "ms", -0.1, 0.1, -0.2),
		value("large", "readable/value=307200", "firn", "%", 100),
		value("large", "readable/value=307200", "fastcache", "%", 31.4),
	)
	wantRows(t, text,
		"| Get hit, 1 and 2 goroutines (fastcache) | get zipf 1 g | 2.50× | 2.50–2.50 | 3× | 4× | **missed** |",
		"| Get hit, 1 and 2 goroutines (fastcache) | get uniform 2 g | 3.00× | 3.00–3.00 | 3× | 4× | reached |",
		"| Get miss (fastcache) | get absent 2 g | 4.00× | 4.00–4.00 | 3× | 4× | aim |",
		"| Get hit over otter | get zipf 2 g | 0.80× | 0.80–0.80 | 3× | 4× | **missed** |",
		"| bytes per entry beyond key and value |  | 20 B | 20–20 | 24 B | 18 B | reached |",
		"| slowest single Set under churn |  | 0.5 ms | 0.35–3.75 | 5 ms | 1 ms | aim |",
		"| firn | 20.0 | -0.1 | – | – | – | 0.50 (worst 7.00) | – | – |",
		"| forced GC above an empty process |  | -0.1 ms | -0.15–0 | 1 ms | 0 ms | aim |",
		"| get zipf 1 g | 200.0 | 500.0 | 2.50× (2.50–2.50) | 1.0000 | 1.0000 |",
		"| get uniform 2 g | 200.0 | 600.0 | 3.00× (3.00–3.00) | 0.9375 | 0.9375 |",
		"| get zipf 2 g | 200.0 | 160.0 | **0.80×** (0.80–0.80) | 1.0000 | 1.0000 |",
		"| fastcache | – | – | – | – | – | 98.00 (worst 99.00) | – | – |", "| firn | 100 | 0 |", "| fastcache | 31 | 0 |",
	)
	if strings.Contains(text, "### Beside xsync") {
		t.Error("a table for a rival that did not run")
	}
}

// TestTargetsAreDistinct: no cell counts for two ratio targets of one rival.
func TestTargetsAreDistinct(t *testing.T) {
	for _, op := range []string{"get/zipf", "get/uniform", "get/absent", "mix/zipf", "mix/uniform", "set/zipf", "set/uniform", "getbatch/zipf", "setbatch/uniform"} {
		for _, g := range []int{1, 2, 64} {
			name := fmt.Sprintf("%s/n=10/value=64/goroutines=%d", op, g)
			matches := 0
			for _, target := range targets {
				if target.suite == "ram" && target.rival == "fastcache" && target.name.MatchString(name) {
					matches++
				}
			}
			want := 1
			if strings.HasPrefix(op, "set/") && g == 64 {
				want = 0 // no target
			}
			if matches != want {
				t.Errorf("%s counts for %d targets; expected %d", name, matches, want)
			}
		}
	}
}
