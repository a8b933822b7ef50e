package live

import (
	"bytes"
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/histogram"
	"github.com/firncache/firn/internal/inside"
	"github.com/firncache/firn/stats"
)

// snapshot is one cache at one moment.
type snapshot struct {
	at     time.Time
	stats  stats.Cache
	spaces map[string]stats.Namespace // by namespace
	inside inside.Inside
}

// take takes a snapshot of a cache, of a nil one as of a closed one.
func (s *snapshot) take(c *firn.Cache, at time.Time) {
	s.at = at
	if c == nil {
		s.stats, s.inside, s.spaces = stats.Cache{}, inside.Inside{Closed: true}, nil
		return
	}
	s.stats, s.spaces = c.Stats(), c.StatsByNamespace()
	s.inside = inside.Of(c, s.inside.Segments)
}

// stand makes a snapshot of a closed cache that of the last moment before.
func (s *snapshot) stand(before *snapshot) {
	s.stats, s.spaces = before.stats, before.spaces
	s.inside = before.inside
	s.inside.Segments = bytes.Clone(before.inside.Segments)
	s.inside.Closed = true
}

// interval is what happened between two snapshots.
type interval struct {
	from, to                           *snapshot
	seconds                            float64 // see secondsBetween
	ramReads                           histogram.Histogram
	ssdReads, sharedReads, loads, ages stats.Histogram
}

func between(from, to *snapshot) *interval {
	return &interval{
		from: from, to: to,
		seconds:     secondsBetween(from.at, to.at),
		ramReads:    to.inside.RAMReads.Sub(&from.inside.RAMReads),
		sharedReads: to.stats.Shared.ReadDurations.Sub(&from.stats.Shared.ReadDurations),
		ages:        to.stats.RAM.EvictionAges.Sub(&from.stats.RAM.EvictionAges),
		ssdReads:    to.stats.SSD.ReadDurations.Sub(&from.stats.SSD.ReadDurations),
		loads:       to.stats.Loads.Durations.Sub(&from.stats.Loads.Durations),
	}
}

// secondsBetween is how long it is from one moment to a later one: for ever, so that rates are
// 0, if it is no later.
func secondsBetween(from, to time.Time) float64 {
	if d := to.Sub(from); d > 0 {
		return d.Seconds()
	}
	return math.Inf(1)
}

// namespace is what was read of one, a second.
type namespace struct {
	Reads  float64 `json:"reads"`
	Misses float64 `json:"misses"`
}

// mostNamespaces is how many namespaces of a cache a frame has.
const mostNamespaces = 12

// namespaces are those with the most misses in the interval.
func (i *interval) namespaces() map[string]namespace {
	all := map[string]namespace{}
	for name, to := range i.to.spaces {
		from := i.from.spaces[name]
		if n := (namespace{perSecond(from.Hits+from.FrontHits+from.Misses, to.Hits+to.FrontHits+to.Misses, i), perSecond(from.Misses, to.Misses, i)}); n.Reads > 0 {
			all[name] = n
		}
	}
	names := slices.SortedFunc(maps.Keys(all), func(a, b string) int { return cmp.Compare(all[b].Misses, all[a].Misses) })
	for _, name := range names[min(len(names), mostNamespaces):] {
		delete(all, name)
	}
	return all
}

// perSecond is how much a counter grew in a second. Those that are differences of counters taken
// one after the other may fall by a little: that is 0.
func perSecond(from, to uint64, i *interval) float64 { return float64(to-min(from, to)) / i.seconds }

// oneSeries is one of the figures of a cache over time.
type oneSeries struct {
	name string
	of   func(*interval) float64
}

// series are the figures of a cache over time. Those a second are differences of two
// snapshots; quantiles are those of the durations in between, 0 if there were none. The page
// knows them by their names. The first ones are those of caches that a viewer does not look at, too.
var series = []oneSeries{
	{"reads", rate(func(s *stats.Cache) uint64 { return s.Hits + s.FrontHits + s.Misses })},
	{"misses", rate(func(s *stats.Cache) uint64 { return s.Misses })},
	{"ram_used_bytes", gauge(func(s *stats.Cache) int64 { return s.RAM.UsedBytes })},
	{"ram_budget_bytes", gauge(func(s *stats.Cache) int64 { return s.RAM.Bytes })},

	{"front_hits", rate(func(s *stats.Cache) uint64 { return s.FrontHits })},
	{"ram_hits", rate(ramHits)},
	{"ssd_hits", rate(func(s *stats.Cache) uint64 { return s.SSD.Hits })},
	{"shared_hits", rate(func(s *stats.Cache) uint64 { return s.Shared.Hits })},

	{"loads", rate(func(s *stats.Cache) uint64 { return s.Loads.Count })},
	{"load_errors", rate(func(s *stats.Cache) uint64 { return s.Loads.Errors })},
	{"stale_served", rate(func(s *stats.Cache) uint64 { return s.Loads.StaleServed })},
	{"negative_hits", rate(func(s *stats.Cache) uint64 { return s.Loads.NegativeHits })},
	{"load_timeouts", rate(func(s *stats.Cache) uint64 { return s.Loads.Timeouts })},
	{"refreshes", rate(func(s *stats.Cache) uint64 { return s.Loads.Refreshes })},
	{"sets", rate(func(s *stats.Cache) uint64 { return s.Sets })},
	{"deletes", rate(func(s *stats.Cache) uint64 { return s.Deletes })},

	{"ram_p50_ns", func(i *interval) float64 { return float64(i.ramReads.Quantile(.5)) }},
	{"ram_p99_ns", func(i *interval) float64 { return float64(i.ramReads.Quantile(.99)) }},
	{"ssd_p50_ns", func(i *interval) float64 { return float64(i.ssdReads.Quantile(.5)) }},
	{"ssd_p99_ns", func(i *interval) float64 { return float64(i.ssdReads.Quantile(.99)) }},
	{"shared_p50_ns", func(i *interval) float64 { return float64(i.sharedReads.Quantile(.5)) }},
	{"shared_p99_ns", func(i *interval) float64 { return float64(i.sharedReads.Quantile(.99)) }},
	{"load_p50_ns", func(i *interval) float64 { return float64(i.loads.Quantile(.5)) }},
	{"load_p99_ns", func(i *interval) float64 { return float64(i.loads.Quantile(.99)) }},
	{"age_p50_ms", func(i *interval) float64 { return float64(i.ages.Quantile(.5)) / 1e6 }},
	{"age_p90_ms", func(i *interval) float64 { return float64(i.ages.Quantile(.9)) / 1e6 }},

	{"evicted_capacity", rate(func(s *stats.Cache) uint64 { return s.Evictions })},
	{"evicted_expired", rate(func(s *stats.Cache) uint64 { return s.Expirations })},
	{"evicted_replaced", rate(func(s *stats.Cache) uint64 { return s.Replacements })},
	{"evicted_deleted", rate(func(s *stats.Cache) uint64 { return s.Deletes + s.Cleared })},
	{"evicted_demoted", rate(func(s *stats.Cache) uint64 { return s.SSD.Demotions })},
	{"evicted_ssd", rate(func(s *stats.Cache) uint64 { return s.SSD.Evictions })},
	{"evicted_invalidated", rate(func(s *stats.Cache) uint64 { return s.Shared.CopiesDropped })},
	{"evicted_tag", rate(func(s *stats.Cache) uint64 { return s.RAM.TagEvictions })},
	{"evicted_quota", rate(func(s *stats.Cache) uint64 { return s.RAM.QuotaEvictions })},

	{"ram_record_bytes", gauge(func(s *stats.Cache) int64 { return s.RAM.RecordBytes })},
	{"ram_index_bytes", gauge(func(s *stats.Cache) int64 { return s.RAM.IndexBytes })},
	{"ram_overhead_bytes", gauge(func(s *stats.Cache) int64 { return s.RAM.OverheadBytes })},
	{"entries", gauge(func(s *stats.Cache) int64 { return s.Entries })},
	{"loads_active", gauge(func(s *stats.Cache) int64 { return s.Loads.Active })},
	{"ssd_bytes", gauge(func(s *stats.Cache) int64 { return s.SSD.Bytes })},
	{"ssd_budget_bytes", func(i *interval) float64 { return float64(i.to.inside.SSDBudget) }},
	{"ssd_entries", gauge(func(s *stats.Cache) int64 { return s.SSD.Entries })},
	{"ssd_segments", gauge(func(s *stats.Cache) int64 { return s.SSD.Segments })},
	{"ssd_free_segments", gauge(func(s *stats.Cache) int64 { return s.SSD.FreeSegments })},
	{"ssd_live_share", func(i *interval) float64 { return liveShare(i.to.inside.Segments) }},

	{"ssd_user_bytes", rate(func(s *stats.Cache) uint64 { return s.SSD.WriteBytes })},
	{"ssd_written_bytes", rate(func(s *stats.Cache) uint64 { return s.SSD.WrittenBytes })},
	{"ssd_read_bytes", rate(func(s *stats.Cache) uint64 { return s.SSD.ReadBytes })},
	{"ssd_day_bytes", gauge(func(s *stats.Cache) int64 { return s.SSD.WrittenDayBytes })},
	{"ssd_day_budget_bytes", gauge(func(s *stats.Cache) int64 { return s.SSD.WriteBudgetBytes })},
	{"ssd_day_forecast_bytes", gauge(func(s *stats.Cache) int64 { return s.SSD.WriteForecastBytes })},
}

// headlines is how many of the series are those of every cache.
const headlines = 4

// ramHits are the hits that no tier below RAM answered.
func ramHits(s *stats.Cache) uint64 { return s.Hits - min(s.Hits, s.SSD.Hits+s.Shared.Hits) }

// rate is how much a counter grew in a second.
func rate(counter func(*stats.Cache) uint64) func(*interval) float64 {
	return func(i *interval) float64 { return perSecond(counter(&i.from.stats), counter(&i.to.stats), i) }
}

func gauge(value func(*stats.Cache) int64) func(*interval) float64 {
	return func(i *interval) float64 { return float64(value(&i.to.stats)) }
}
