package live

import (
	"encoding/json"
	"strings"
	"testing"
)

// Counters of what stands above a cache are in the frames of that cache, and in the metrics, each family once.
func TestCounters(t *testing.T) {
	counts := func(n uint64) func(func(name, help string, value uint64)) {
		return func(yield func(name, help string, value uint64)) { yield("above_hits", "Help.", n) }
	}
	h := New(Options{Caches: []Named{{Name: "a", Cache: open(t), Counters: counts(3)}, {Name: "b", Cache: open(t)}, {Name: "c", Cache: open(t), Counters: counts(4)}}})
	want := "# HELP firn_above_hits_total Help.\n# TYPE firn_above_hits_total counter\nfirn_above_hits_total{cache=\"a\"} 3\nfirn_above_hits_total{cache=\"c\"} 4\n"
	if page := text(t, get(h, "/metrics")); !strings.HasSuffix(page, want) {
		t.Errorf("got %q, want %q at its end", page[max(0, len(page)-300):], want)
	}
	var f struct{ Caches []struct{ Above []counter } }
	if err := json.Unmarshal([]byte(text(t, get(h, "/stats.json"))), &f); err != nil {
		t.Fatal(err)
	}
	if a, b := f.Caches[0].Above, f.Caches[1].Above; len(a) != 1 || a[0] != (counter{"above_hits", "Help.", 3}) || len(b) != 0 {
		t.Errorf("got %v and %v", a, b)
	}
}

// What a Counters yields that is no metric of its own is left out of the metrics, which a scraper refuses as a whole.
func TestCountersThatAreNoMetrics(t *testing.T) {
	counts := func(yield func(name, help string, value uint64)) {
		for i, name := range []string{"good", "Bad Name{}", "", "bad\n", "good", "sets", "caf\xe9"} {
			yield(name, "Line\n\xff.", uint64(i))
		}
	}
	h := New(Options{Caches: []Named{{Name: "a", Cache: open(t), Counters: counts}}})
	page := text(t, get(h, "/metrics"))
	_, page, _ = strings.Cut(page, "firn_sets_total{")
	if _, got, _ := strings.Cut(page, "# HELP firn_good"); got != "_total Line\\n\uFFFD.\n# TYPE firn_good_total counter\nfirn_good_total{cache=\"a\"} 0\n" || strings.Contains(page, "firn_sets_total") {
		t.Errorf("%q", got)
	}
}
