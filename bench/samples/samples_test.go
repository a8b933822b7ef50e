package samples

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestSpread(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   Spread
	}{
		{nil, Spread{}},
		{[]float64{3}, Spread{3, 3, 3, 1}},
		{[]float64{4, 1, 3, 2}, Spread{2.5, 1.75, 3.25, 4}},
		{[]float64{9, 1, 5}, Spread{5, 3, 7, 3}},
	} {
		if got := SpreadOf(c.values); got != c.want {
			t.Errorf("SpreadOf(%v) = %v; expected %v", c.values, got, c.want)
		}
	}
}

// pair returns samples in which firn takes 10 ns and other takes 10 times its
// factors, in another order.
func pair(name, other string, factors ...float64) []Sample {
	var all []Sample
	for i, f := range factors {
		all = append(all, Sample{Suite: "ram", Name: name, Cache: "firn", Against: other, Repeat: i, Ops: 1, Value: 10 * float64(i+1), Unit: "ns/op"})
		all = append([]Sample{{Suite: "ram", Name: name, Cache: other, Against: "firn", Repeat: i, Ops: 1, Value: 10 * float64(i+1) * f, Unit: "ns/op"}}, all...)
	}
	return all
}

// TestRatioPairsRepeats: the machine gets slower with each repeat, the ratios
// do not see it.
func TestRatioPairsRepeats(t *testing.T) {
	all := append(pair("get", "fastcache", 3, 3, 3), pair("get", "otter", 5, 6, 7)...)
	all = append(all, pair("set", "fastcache", 1)...)
	if got, want := Ratio(all, "ram", "get", "fastcache"), (Spread{3, 3, 3, 3}); got != want {
		t.Errorf("over fastcache: %v; expected %v", got, want)
	}
	if got, want := Ratio(all, "ram", "get", "otter"), (Spread{6, 5.5, 6.5, 3}); got != want {
		t.Errorf("over otter: %v; expected %v", got, want)
	}
	if got := Ratio(all, "ram", "get", "xsync"); got != (Spread{}) {
		t.Errorf("over a cache that did not run: %v", got)
	}
}

// TestRatioOfSeveral: firn takes a turn beside several caches at once.
func TestRatioOfSeveral(t *testing.T) {
	var all []Sample
	for i := range 3 {
		for cache, ns := range map[string]float64{"firn": 10, "otter": 20, "xsync": 5} {
			s := Sample{Suite: "users", Name: "op", Cache: cache, Against: "firn", Repeat: i, Ops: 1, Value: ns * float64(i+1), Unit: "ns/op"}
			if cache == "firn" {
				s.Against = ""
			}
			all = append(all, s)
		}
	}
	for rival, want := range map[string]float64{"otter": 2, "xsync": 0.5} {
		if got := Ratio(all, "users", "op", rival); got != (Spread{want, want, want, 3}) {
			t.Errorf("over %s: %v; expected %v", rival, got, want)
		}
	}
	dir := t.TempDir()
	r := &Run{Suite: "users", Machine: ThisMachine(), Samples: all}
	if err := r.SaveText(dir); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "users.txt"))
	if err != nil || strings.Count(string(text), "\t2 ratio\n") != 3 || strings.Count(string(text), "\t0.5 ratio\n") != 3 {
		t.Errorf("%v; expected the ratios of three turns in\n%s", err, text)
	}
	if got, err := ReadText(filepath.Join(dir, "users.txt")); err != nil || !reflect.DeepEqual(got.Samples, all) {
		t.Errorf("%v; as text: %+v\nexpected %+v", err, got.Samples, all)
	}
}

func TestBenchmarkLine(t *testing.T) {
	hit := 0.5
	s := Sample{Suite: "ram", Name: "get/zipf/n=10", Cache: "firn", Against: "otter", Ops: 100, Value: 12.5, Unit: "ns/op", Hit: &hit, Refused: 2}
	want := "Benchmark_ram/get/zipf/n=10/cache=firn/pair=otter-2\t100\t12.5 ns/op\t0.5 hit-ratio\t2 refused"
	if got := s.BenchmarkLine(2); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	s = Sample{Suite: "ram", Name: "get/zipf/n=10", Cache: "otter", Against: "firn", Ops: 100, Value: 25, Unit: "ns/op", Ratio: &Spread{2, 1.5, 2.5, 8}}
	if got, want := s.BenchmarkLine(2), "Benchmark_ram/get/zipf/n=10/cache=otter/pair=otter-2\t100\t25 ns/op\t2 ratio\t1.5 ratio-low\t2.5 ratio-high"; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestSaveAndLoad(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	want := &Run{
		Suite: "ram", Command: "go run . -suite ram", Started: time.Date(2026, 11, 21, 4, 0, 0, 0, time.UTC), Seconds: 1.5, Entries: 10, Repeats: 2,
		Machine: ThisMachine(), Versions: map[string]string{"otter": "v2"}, Samples: pair("get", "otter", 1, 2),
	}
	slices.SortStableFunc(want.Samples, func(a, b Sample) int { return a.Repeat - b.Repeat })
	if err := want.Save(dir); err != nil {
		t.Fatal(err)
	}
	got, err := Load(filepath.Join(dir, "ram.json"))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if got, err = ReadText(filepath.Join(dir, "ram.txt")); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("as text: %v\ngot  %+v\nwant %+v", err, got, want)
	}
	text, err := os.ReadFile(filepath.Join(dir, "ram.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "40 ns/op\t2 ratio\n") {
		t.Errorf("no ratio of a turn in:\n%s", text)
	}
	if n := strings.Count(string(text), "\nBenchmark_ram/get/cache="); n != len(want.Samples) {
		t.Errorf("%d benchmark lines; expected %d:\n%s", n, len(want.Samples), text)
	}
}

func TestLoadRefuses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ram.json")
	if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(file); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("a truncated file: %v; expected its name", err)
	}
}
