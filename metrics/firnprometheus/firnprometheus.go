// Package firnprometheus collects a cache's statistics for Prometheus:
//
//	prometheus.MustRegister(firnprometheus.NewCollector("sessions", cache))
//
// The metrics are those of [stats.Metrics], prefixed with firn_; counters end in
// _total, and what firn counts in nanoseconds is in _seconds here. Distributions are
// histograms of 29 buckets, from 1 µs to 268 s, those of ages from 10 ms to 31 days. Each carries the
// label cache with the cache's name. A *firn.Cache has its curve, too: firn_curve_miss_ratio, firn_curve_error and
// firn_curve_bytes, by memory and factor; and the counters of its namespaces, firn_namespace_…, by name: of at
// most 100, the rest as other. The directory metrics/grafana has a dashboard
// for them.
package firnprometheus

import (
	"sync"

	"github.com/firncache/firn/stats"
	"github.com/prometheus/client_golang/prometheus"
)

// Source is what has statistics: a *firn.Cache.
type Source interface {
	Stats() stats.Cache
}

// NewCollector makes a collector for one cache. Each scrape takes one snapshot
// of its statistics. Several caches may be registered, under different names.
// The collector holds on to src until it is unregistered.
func NewCollector(cache string, src Source) prometheus.Collector {
	c := &collector{src: src, more: newMore(cache, src)}
	for _, m := range stats.Metrics() {
		kind := prometheus.GaugeValue
		if m.Counter {
			kind = prometheus.CounterValue
		}
		c.metrics = append(c.metrics, metric{
			desc:      prometheus.NewDesc(Name(m), m.Help, nil, prometheus.Labels{"cache": cache}),
			kind:      kind,
			value:     value(m),
			histogram: m.Histogram,
		})
	}
	return c
}

// Name is the name of a metric in Prometheus: firn_hits_total for hits.
func Name(m stats.Metric) string {
	name := "firn_" + m.Name
	if m.Unit == "ns" {
		name += "_seconds"
	}
	if m.Counter && m.Histogram == nil {
		name += "_total"
	}
	return name
}

// value reads a metric in the unit that its name tells.
func value(m stats.Metric) func(*stats.Cache) float64 {
	if m.Unit == "ns" {
		return func(s *stats.Cache) float64 { return m.Value(s) / 1e9 }
	}
	return m.Value
}

type collector struct {
	src     Source
	mu      sync.Mutex // held by a scrape
	more    *more
	metrics []metric
}

type metric struct {
	desc  *prometheus.Desc
	kind  prometheus.ValueType
	value func(*stats.Cache) float64

	histogram func(*stats.Cache) *stats.Histogram // nil: it is a number
}

// of is the metric of a snapshot.
func (m *metric) of(s *stats.Cache) prometheus.Metric {
	if m.histogram == nil {
		return prometheus.MustNewConstMetric(m.desc, m.kind, m.value(s))
	}
	h := m.histogram(s)
	buckets := map[float64]uint64{}
	for bound, count := range h.Buckets() {
		buckets[bound.Seconds()] = count
	}
	return prometheus.MustNewConstHistogram(m.desc, h.Count(), m.value(s), buckets)
}

func (c *collector) Describe(descs chan<- *prometheus.Desc) {
	for _, m := range c.metrics {
		descs <- m.desc
	}
	c.more.describe(descs)
}

func (c *collector) Collect(metrics chan<- prometheus.Metric) {
	s := c.src.Stats()
	for _, m := range c.metrics {
		metrics <- m.of(&s)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.more.collect(metrics)
}
