package live

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/firncache/firn/internal/inside"
	"github.com/firncache/firn/stats"
)

// contract are the names that the page knows.
var contract = []string{
	"reads", "misses", "ram_used_bytes", "ram_budget_bytes", "front_hits", "ram_hits", "ssd_hits", "shared_hits",
	"loads", "load_errors", "stale_served", "negative_hits", "load_timeouts", "refreshes", "sets", "deletes",
	"ram_p50_ns", "ram_p99_ns", "ssd_p50_ns", "ssd_p99_ns", "shared_p50_ns", "shared_p99_ns", "load_p50_ns", "load_p99_ns",
	"age_p50_ms", "age_p90_ms",
	"evicted_capacity", "evicted_expired", "evicted_replaced", "evicted_deleted", "evicted_demoted", "evicted_ssd", "evicted_invalidated", "evicted_tag", "evicted_quota",
	"ram_record_bytes", "ram_index_bytes", "ram_overhead_bytes", "entries", "loads_active",
	"ssd_bytes", "ssd_budget_bytes", "ssd_entries", "ssd_segments", "ssd_free_segments", "ssd_live_share",
	"ssd_user_bytes", "ssd_written_bytes", "ssd_read_bytes", "ssd_day_bytes", "ssd_day_budget_bytes", "ssd_day_forecast_bytes",
}

func TestNamesOfSeries(t *testing.T) {
	for i, want := range contract {
		if i >= len(series) || series[i].name != want {
			t.Fatalf("series %d is not %s", i, want)
		}
	}
	if len(series) != len(contract) {
		t.Errorf("%d series, %d names", len(series), len(contract))
	}
}

// nowOf is what a page is told of two snapshots.
func nowOf(from, to *snapshot) map[string]float64 {
	b, now := between(from, to), map[string]float64{}
	for _, s := range series {
		now[s.name] = s.of(b)
	}
	return now
}

// Rates are differences in a second of what was counted, gauges what is.
func TestRates(t *testing.T) {
	var from, to snapshot
	from.at = time.Now()
	to.at = from.at.Add(2 * time.Second)
	from.stats = stats.Cache{Hits: 100, Misses: 10, FrontHits: 5, Sets: 7, Deletes: 1, Cleared: 1, Evictions: 3}
	from.stats.SSD.Hits, from.stats.Shared.Hits = 10, 20
	to.stats = stats.Cache{Hits: 200, Misses: 30, FrontHits: 15, Sets: 8, Deletes: 2, Cleared: 4, Evictions: 2, Entries: 9}
	to.stats.SSD.Hits, to.stats.Shared.Hits = 20, 50
	to.stats.Loads.Count, to.stats.Loads.Refreshes = 8, 6
	to.stats.RAM.Bytes, to.stats.SSD.WriteBudgetBytes = 1<<40, 5
	now := nowOf(&from, &to)
	for name, want := range map[string]float64{
		"reads": 65, "front_hits": 5, "ram_hits": 30, "ssd_hits": 5, "shared_hits": 15, "misses": 10, "loads": 4, "refreshes": 3, "sets": .5, "deletes": .5,
		"evicted_deleted": 2, "evicted_capacity": 0, "entries": 9, "ram_budget_bytes": 1 << 40, "ssd_day_budget_bytes": 5, "load_p50_ns": 0,
	} {
		if now[name] != want {
			t.Errorf("%s is %v, want %v", name, now[name], want)
		}
	}
	if sum := now["front_hits"] + now["ram_hits"] + now["ssd_hits"] + now["shared_hits"] + now["misses"]; sum != now["reads"] {
		t.Errorf("reads are %v, their parts %v", now["reads"], sum)
	}
	for name, v := range nowOf(&to, &to) {
		if math.IsNaN(v) || math.IsInf(v, 0) || name == "reads" && v != 0 {
			t.Errorf("in no time %s is %v", name, v)
		}
	}
}

// Quantiles are those of the durations since the snapshot before.
func TestQuantilesOfASecond(t *testing.T) {
	var from, to snapshot
	from.at, to.at = time.Unix(1, 0), time.Unix(2, 0)
	for range 1000 {
		from.stats.SSD.ReadDurations.Add(time.Second)
		from.stats.Loads.Durations.Add(time.Second)
		from.stats.Shared.ReadDurations.Add(time.Second)
	}
	to.stats, to.inside = from.stats, from.inside
	for range 99 {
		to.stats.SSD.ReadDurations.Add(100 * time.Microsecond)
		to.stats.Shared.ReadDurations.Add(time.Millisecond)
	}
	to.stats.SSD.ReadDurations.Add(10 * time.Millisecond)
	now := nowOf(&from, &to)
	for name, want := range map[string]time.Duration{"ssd_p50_ns": 100 * time.Microsecond, "ssd_p99_ns": 100 * time.Microsecond, "shared_p99_ns": time.Millisecond, "load_p99_ns": 0} {
		if got := now[name]; got < float64(want) || got > 1.126*float64(want)+1000 {
			t.Errorf("%s is %v, want %v", name, time.Duration(got), want)
		}
	}
}

// The map of the log has a cell for some segments.
func TestCells(t *testing.T) {
	const free, open, failing = inside.SegmentFree, inside.SegmentOpen, inside.SegmentFailing
	for _, test := range []struct {
		segments []byte
		want     byte
	}{
		{[]byte{40}, 40}, {[]byte{free}, free}, {[]byte{open}, open}, {[]byte{failing, 3}, failing},
		{[]byte{40, 60}, 50}, {[]byte{40, free, open}, 40}, {[]byte{free, open}, open}, {[]byte{1, 2}, 2},
	} {
		if got := cell(test.segments); got != test.want {
			t.Errorf("%v is a cell of %d, want %d", test.segments, got, test.want)
		}
	}
	for segments, want := range map[int][2]int{0: {0, 0}, 1: {1, 1}, 1024: {1024, 1}, 1025: {513, 2}, 10_000: {1000, 10}} {
		if list, per := cells(make([]byte, segments)); len(list) != want[0] || per != want[1] {
			t.Errorf("%d segments are %d cells of %d, want %d of %d", segments, len(list), per, want[0], want[1])
		}
	}
	if got := liveShare([]byte{100, 50, free, open, failing}); got != .75 {
		t.Errorf("%v live, want .75", got)
	}
	if got := liveShare(nil); got != 0 {
		t.Errorf("of nothing %v live", got)
	}
}

// Numbers are such as JSON has words for, in as many digits as their bits take.
func TestNumbers(t *testing.T) {
	for _, test := range []struct {
		v    float64
		bits int
		want string
	}{
		{0, 64, "0"}, {-3, 32, "-3"}, {1 << 50, 32, "1125899906842624"}, {1e300, 64, "1e+300"}, {1e-9, 32, "1e-09"},
		{1. / 3, 32, "0.33333334"}, {1. / 3, 64, "0.3333333333333333"},
		{math.Inf(1), 32, "0"}, {math.Inf(-1), 64, "0"}, {math.NaN(), 64, "0"},
	} {
		if got := string(appendNumber(nil, test.v, test.bits)); got != test.want || !json.Valid([]byte(got)) {
			t.Errorf("%v is %s, want %s", test.v, got, test.want)
		}
	}
}
