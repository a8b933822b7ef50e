package browsertest

import (
	"fmt"
	"math"
	"testing"

	"github.com/firncache/firn"
)

// drawn is an expression that is true when the page has drawn the frame of seq or a later one.
func drawn(seq uint64) string {
	return fmt.Sprintf("Number(document.documentElement.dataset.seq) >= %d", seq)
}

// shown are the page's figures of a cache by the names of series, as numbers and as text.
func shown(b *tab, cache int) (values map[string]float64, texts map[string]string) {
	b.Helper()
	type figure struct{ Name, Value, Text string }
	list := eval[[]figure](b, fmt.Sprintf(`[...document.querySelectorAll('[data-cache="%d"] [data-series]')].map(e => ({Name: e.dataset.series, Value: e.dataset.value, Text: e.textContent}))`, cache))
	values, texts = map[string]float64{}, map[string]string{}
	for _, f := range list {
		var v float64
		if _, err := fmt.Sscan(f.Value, &v); err != nil {
			b.Fatalf("the page has %q for %s: want a number", f.Value, f.Name)
		}
		values[f.Name], texts[f.Name] = v, f.Text
	}
	return values, texts
}

// fromStats is what a series is, by the snapshots at both ends of its second.
var fromStats = map[string]func(before, after *firn.Stats) float64{
	"reads":          func(b, a *firn.Stats) float64 { return reads(a) - reads(b) },
	"misses":         func(b, a *firn.Stats) float64 { return float64(a.Misses - b.Misses) },
	"ssd_hits":       func(b, a *firn.Stats) float64 { return float64(a.SSD.Hits - b.SSD.Hits) },
	"ram_hits":       func(b, a *firn.Stats) float64 { return float64(a.Hits - b.Hits - (a.SSD.Hits - b.SSD.Hits)) },
	"loads":          func(b, a *firn.Stats) float64 { return float64(a.Loads.Count - b.Loads.Count) },
	"load_errors":    func(b, a *firn.Stats) float64 { return float64(a.Loads.Errors - b.Loads.Errors) },
	"sets":           func(b, a *firn.Stats) float64 { return float64(a.Sets - b.Sets) },
	"deletes":        func(b, a *firn.Stats) float64 { return float64(a.Deletes - b.Deletes) },
	"entries":        func(_, a *firn.Stats) float64 { return float64(a.Entries) },
	"ram_used_bytes": func(_, a *firn.Stats) float64 { return float64(a.RAM.UsedBytes) },
	"ssd_entries":    func(_, a *firn.Stats) float64 { return float64(a.SSD.Entries) },
}

func reads(s *firn.Stats) float64 { return float64(s.Hits + s.FrontHits + s.Misses) }

// Figures grow under load, and are those of Stats: in the stream, and as they are drawn.
func TestFiguresAreThoseOfStats(t *testing.T) {
	t.Parallel()
	w, url := serve(t, spec{ram: small.ram, work: small.work}) // an SSD tier works on after the requests
	b := open(t, url, view{})
	wait[bool](b, drawn(w.seq()))
	var lastEntries float64
	for range 5 {
		before := w.caches[0].Stats()
		must(t, w.tick(1))
		after := w.caches[0].Stats()
		wait[bool](b, drawn(w.seq()))
		values, texts := shown(b, 0)
		compare(t, values, texts, &before, &after)
		if values["reads"] < 500 || values["entries"] <= lastEntries {
			t.Errorf("%v reads a second, and %v entries after %v: want more under load", values["reads"], values["entries"], lastEntries)
		}
		lastEntries = values["entries"]
	}
}

// compare fails for figures that Stats has otherwise. Those of the SSD tier are left out if
// there is none.
func compare(t *testing.T, values map[string]float64, texts map[string]string, before, after *firn.Stats) {
	t.Helper()
	for name, f := range fromStats {
		got, ok := values[name]
		want := f(before, after)
		switch {
		case !ok && name[:3] == "ssd":
		case !ok:
			t.Errorf("the page shows no %s", name)
		case math.Abs(got-want) > 1e-6*math.Max(1, want):
			t.Errorf("the page shows %v for %s: Stats has %v", got, name, want)
		case !says(texts[name], want):
			t.Errorf("the page says %q for %s, which is %v", texts[name], name, want)
		}
	}
}

// prefixes are what the page writes behind a number, and by how much it is more.
var prefixes = map[string]float64{
	"": 1, "k": 1e3, "M": 1e6, "G": 1e9, "/s": 1, "k/s": 1e3, "M/s": 1e6,
	"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30,
}

// says is whether a text begins with a number that is about v.
func says(text string, v float64) bool {
	var number float64
	var unit string
	if n, _ := fmt.Sscan(text, &number, &unit); n == 0 {
		return false
	}
	factor, ok := prefixes[unit]
	return ok && math.Abs(number*factor-v) <= math.Max(0.02*v, 0.6*math.Min(factor, 1))
}
