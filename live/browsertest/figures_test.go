package browsertest

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/firncache/firn/stats"
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
var fromStats = map[string]func(before, after *stats.Cache) float64{
	"reads":          func(b, a *stats.Cache) float64 { return reads(a) - reads(b) },
	"misses":         func(b, a *stats.Cache) float64 { return float64(a.Misses - b.Misses) },
	"ram_hits":       func(b, a *stats.Cache) float64 { return float64(a.Hits - b.Hits) },
	"loads":          func(b, a *stats.Cache) float64 { return float64(a.Loads.Count - b.Loads.Count) },
	"sets":           func(b, a *stats.Cache) float64 { return float64(a.Sets - b.Sets) },
	"deletes":        func(b, a *stats.Cache) float64 { return float64(a.Deletes - b.Deletes) },
	"entries":        func(_, a *stats.Cache) float64 { return float64(a.Entries) },
	"ram_used_bytes": func(_, a *stats.Cache) float64 { return float64(a.RAM.UsedBytes) },
}

func reads(s *stats.Cache) float64 { return float64(s.Hits + s.FrontHits + s.Misses) }

// Figures grow under load, and are those of Stats: in the stream, and as they are drawn.
func TestFiguresAreThoseOfStats(t *testing.T) {
	t.Parallel()
	w, url := serve(t, spec{ram: small.ram, work: small.work}) // an SSD tier works on after the requests
	b := open(t, url, view{})
	wait[bool](b, drawn(w.seq()))
	var lastEntries float64
	seconds := map[string][]float64{} // what each series was
	for range 5 {
		before := w.caches[0].Stats()
		must(t, w.tick(1))
		after := w.caches[0].Stats()
		for name, f := range fromStats {
			seconds[name] = append(seconds[name], f(&before, &after))
		}
		wait[bool](b, drawn(w.seq()))
		compare(t, b, seconds)
		if entries := seconds["entries"][len(seconds["entries"])-1]; entries <= lastEntries {
			t.Errorf("%v entries after %v: want more under load", entries, lastEntries)
		} else {
			lastEntries = entries
		}
	}
}

// compare fails for figures that Stats has otherwise. They are those of the last five seconds.
func compare(t *testing.T, b *tab, seconds map[string][]float64) {
	t.Helper()
	values, texts := shown(b, 0)
	for name, list := range seconds {
		got, ok := values[name]
		want, gauge := list[len(list)-1], name == "entries" || name == "ram_used_bytes"
		if !gauge {
			want = sum(list[max(len(list)-5, 0):]) / float64(min(len(list), 5))
		}
		if !ok {
			t.Errorf("the page shows no %s", name)
			continue
		}
		if math.Abs(got-want) > 1e-6*math.Max(1, want) {
			t.Errorf("the page shows %v for %s: Stats has %v", got, name, want)
		}
		least, most := slices.Min(list), slices.Max(list)
		if len(list) < 5 && !gauge {
			least = 0
		}
		if !says(texts[name], least, most) {
			t.Errorf("the page says %q for %s, which is %v to %v", texts[name], name, least, most)
		}
	}
}

// units are what the page writes behind a number, and by how much that is more.
var units = map[string]float64{
	"": 1, "/s": 1, "k": 1e3, "k/s": 1e3, "M": 1e6, "M/s": 1e6, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30,
}

// written is a number as the page writes it: 4,567, for 12.3k/s, 1.5 MiB.
var written = regexp.MustCompile("^(?:for )?([0-9.,]+)[ \u00a0]?([A-Za-z/]*)")

// says is whether a text begins with a number that is from least to most, about.
func says(text string, least, most float64) bool {
	parts := written.FindStringSubmatch(text)
	if parts == nil {
		return false
	}
	number, err := strconv.ParseFloat(strings.ReplaceAll(parts[1], ",", ""), 64)
	factor, ok := units[parts[2]]
	return err == nil && ok && number*factor >= 0.99*least-0.5 && number*factor <= 1.01*most+0.5
}

func sum(list []float64) (s float64) {
	for _, v := range list {
		s += v
	}
	return s
}
