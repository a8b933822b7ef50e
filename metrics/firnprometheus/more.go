package firnprometheus

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/firncache/firn/stats"
	"github.com/prometheus/client_golang/prometheus"
)

// curved is a Source that estimates what other sizes would do, as a *firn.Cache is.
type curved interface{ Curve() stats.Curve }

// spaced is a Source with typed caches, as a *firn.Cache is.
type spaced interface {
	StatsByNamespace() map[string]stats.Namespace
}

// The metrics of the curve, by memory (ram, or both for RAM and SSD) and factor of the present size: those of
// its valid points.
var curveMetrics = []struct {
	name, help string
	of         func(*stats.CurvePoint) float64
}{
	{"firn_curve_miss_ratio", "Share of reads that would miss with another amount of memory.", func(p *stats.CurvePoint) float64 { return p.MissRatio }},
	{"firn_curve_error", "The true miss ratio is within this of firn_curve_miss_ratio in 19 of 20 cases.", func(p *stats.CurvePoint) float64 { return p.Error }},
	{"firn_curve_bytes", "The amount of memory.", func(p *stats.CurvePoint) float64 { return float64(p.Bytes) }},
}

// The metrics of namespaces: of those with the most reads, the rest together as other.
var namespaceMetrics = []struct {
	name, help string
	of         func(*stats.Namespace) uint64
	gauge      bool
}{
	{"firn_namespace_hits_total", "Typed reads past the front that found a value.", func(s *stats.Namespace) uint64 { return s.Hits }, false},
	{"firn_namespace_misses_total", "Typed reads that found none.", func(s *stats.Namespace) uint64 { return s.Misses }, false},
	{"firn_namespace_front_hits_total", "Typed reads that a front answered.", func(s *stats.Namespace) uint64 { return s.FrontHits }, false},
	{"firn_namespace_sets_total", "Values stored by calls.", func(s *stats.Namespace) uint64 { return s.Sets }, false},
	{"firn_namespace_deletes_total", "Keys deleted by calls.", func(s *stats.Namespace) uint64 { return s.Deletes }, false},
	{"firn_namespace_loads_total", "Calls of loaders.", func(s *stats.Namespace) uint64 { return s.Loads }, false},
	{"firn_namespace_load_errors_total", "Calls of loaders that failed.", func(s *stats.Namespace) uint64 { return s.LoadErrors }, false},
	{"firn_namespace_mismatches_total", "Values of another codec, version or type.", func(s *stats.Namespace) uint64 { return s.Mismatches }, false},
	{"firn_namespace_decode_errors_total", "Values that their codec did not accept.", func(s *stats.Namespace) uint64 { return s.DecodeErrors }, false},
	{"firn_namespace_quota_evictions_total", "Records that left RAM because the namespace was above its MaxBytes, other than to the SSD tier.", func(s *stats.Namespace) uint64 { return s.QuotaEvictions }, false},
	{"firn_namespace_bytes", "Bytes of the records in RAM, with MaxBytes.", func(s *stats.Namespace) uint64 { return uint64(s.Bytes) }, true},
	{"firn_namespace_max_bytes", "MaxBytes, 0 without.", func(s *stats.Namespace) uint64 { return uint64(s.MaxBytes) }, true},
	{"firn_namespace_ssd_bytes", "Bytes of the records on the SSD, with MaxBytes.", func(s *stats.Namespace) uint64 { return uint64(s.SSDBytes) }, true},
	{"firn_namespace_max_ssd_bytes", "The share of the SSD, 0 without MaxBytes.", func(s *stats.Namespace) uint64 { return uint64(s.MaxSSDBytes) }, true},
}

const (
	maxNamespaces = 100     // that have a label of their own
	other         = "other" // the label of the rest
)

// namespaces keeps labels: a namespace that has one keeps it, so that no counter of it falls.
type namespaces struct{ named map[string]bool }

// byLabel are the counters by label.
func (n *namespaces) byLabel(all map[string]stats.Namespace) map[string]stats.Namespace {
	reads := func(name string) uint64 { s := all[name]; return s.Hits + s.FrontHits + s.Misses }
	byReads := func(a, b string) int { return cmp.Or(cmp.Compare(reads(b), reads(a)), cmp.Compare(a, b)) }
	for _, name := range slices.SortedFunc(maps.Keys(all), byReads) {
		if len(n.named) < maxNamespaces && name != other {
			n.named[name] = true
		}
	}
	labelled := map[string]stats.Namespace{}
	for name, s := range all {
		if !n.named[name] {
			name = other
		}
		name = strings.ToValidUTF8(name, "\uFFFD") // no label may be anything else
		labelled[name] = sum(labelled[name], s)
	}
	return labelled
}

func sum(a, b stats.Namespace) stats.Namespace {
	a.Hits += b.Hits
	a.Misses += b.Misses
	a.FrontHits += b.FrontHits
	a.Sets += b.Sets
	a.Deletes += b.Deletes
	a.Loads += b.Loads
	a.LoadErrors += b.LoadErrors
	a.Mismatches += b.Mismatches
	a.DecodeErrors += b.DecodeErrors
	a.Bytes += b.Bytes
	a.MaxBytes += b.MaxBytes
	a.QuotaEvictions += b.QuotaEvictions
	a.SSDBytes += b.SSDBytes
	a.MaxSSDBytes += b.MaxSSDBytes
	return a
}

// more collects the curve and the namespaces of a cache.
type more struct {
	src             any // a Source
	curve, counters []*prometheus.Desc
	namespaces      namespaces
}

func newMore(cache string, src any) *more {
	m := &more{src: src, namespaces: namespaces{named: map[string]bool{}}}
	labels := prometheus.Labels{"cache": cache}
	for _, c := range curveMetrics {
		m.curve = append(m.curve, prometheus.NewDesc(c.name, c.help, []string{"memory", "factor"}, labels))
	}
	for _, c := range namespaceMetrics {
		m.counters = append(m.counters, prometheus.NewDesc(c.name, c.help, []string{"namespace"}, labels))
	}
	return m
}

func (m *more) describe(descs chan<- *prometheus.Desc) {
	for _, d := range slices.Concat(m.curve, m.counters) {
		descs <- d
	}
}

// collect is called by one scrape at a time.
func (m *more) collect(metrics chan<- prometheus.Metric) {
	if src, ok := m.src.(curved); ok {
		c := src.Curve()
		m.collectCurve("ram", c.RAM.Points, metrics)
		m.collectCurve("both", c.Both.Points, metrics)
	}
	if src, ok := m.src.(spaced); ok {
		for name, s := range m.namespaces.byLabel(src.StatsByNamespace()) {
			for i, of := range namespaceMetrics {
				kind := prometheus.CounterValue
				if of.gauge {
					kind = prometheus.GaugeValue
				}
				metrics <- prometheus.MustNewConstMetric(m.counters[i], kind, float64(of.of(&s)), name)
			}
		}
	}
}

func (m *more) collectCurve(memory string, points []stats.CurvePoint, metrics chan<- prometheus.Metric) {
	for k := range points {
		if p := &points[k]; p.State == stats.CurveValid {
			factor := strconv.FormatFloat(p.Factor, 'g', -1, 64)
			for i, of := range curveMetrics {
				metrics <- prometheus.MustNewConstMetric(m.curve[i], prometheus.GaugeValue, of.of(p), memory, factor)
			}
		}
	}
}
