// Package firnotel reports a cache's statistics through OpenTelemetry, and its loads and
// reads of the SSD as spans, see NewTracer:
//
//	registration, err := firnotel.Register(otel.GetMeterProvider(), "sessions", cache)
//
// The instruments are those of [stats.Metrics], prefixed with "firn.": observable
// counters and gauges. Each observation has the attribute cache with the
// cache's name. OpenTelemetry has no observable histograms: a distribution is a counter of
// its sum, and another, whose name ends in .bucket, of the durations up to a bound, which
// the attribute le has in nanoseconds, "+Inf" for all.
package firnotel

import (
	"context"
	"fmt"
	"strconv"

	"github.com/firncache/firn/stats"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// Source is what has statistics: a *firn.Cache.
type Source interface {
	Stats() stats.Cache
}

// Scope is the name of the instrumentation scope.
const Scope = "github.com/firncache/firn"

// Register makes the instruments, and observes the cache at each collection:
// one snapshot for all of them. Several caches may be registered, under
// different names. Unregister on the result ends it; until then it holds on to
// src.
func Register(provider metric.MeterProvider, cache string, src Source) (metric.Registration, error) {
	meter := provider.Meter(Scope)
	var all []metric.Observable
	var instruments []metric.Float64Observable
	buckets := map[string]metric.Float64Observable{}
	metrics := stats.Metrics()
	for _, m := range metrics {
		instrument, err := newInstrument(meter, m)
		if err != nil {
			return nil, fmt.Errorf("firnotel: %s: %w", m.Name, err)
		}
		all, instruments = append(all, instrument), append(instruments, instrument)
		if m.Histogram != nil {
			help := "How many of them did not exceed le nanoseconds: " + m.Help
			b, err := meter.Float64ObservableCounter("firn."+m.Name+".bucket", metric.WithDescription(help), metric.WithUnit("1"))
			if err != nil {
				return nil, fmt.Errorf("firnotel: %s: %w", m.Name, err)
			}
			all, buckets[m.Name] = append(all, b), b
		}
	}
	of := metric.WithAttributeSet(attribute.NewSet(attribute.String("cache", cache)))
	observe := func(_ context.Context, o metric.Observer) error {
		s := src.Stats()
		for i, m := range metrics {
			o.ObserveFloat64(instruments[i], m.Value(&s), of)
			if m.Histogram != nil {
				observeBuckets(o, buckets[m.Name], m.Histogram(&s), cache)
			}
		}
		return nil
	}
	registration, err := meter.RegisterCallback(observe, all...)
	if err != nil {
		return nil, fmt.Errorf("firnotel: %w", err)
	}
	return registration, nil
}

// observeBuckets observes how many durations there are up to each bound, and in all.
func observeBuckets(o metric.Observer, to metric.Float64Observable, h *stats.Histogram, cache string) {
	upTo := func(le string, count uint64) {
		o.ObserveFloat64(to, float64(count), metric.WithAttributes(attribute.String("cache", cache), attribute.String("le", le)))
	}
	for bound, count := range h.Buckets() {
		upTo(strconv.FormatInt(int64(bound), 10), count)
	}
	upTo("+Inf", h.Count())
}

func newInstrument(meter metric.Meter, m stats.Metric) (metric.Float64Observable, error) {
	name, help, unit := "firn."+m.Name, metric.WithDescription(m.Help), metric.WithUnit(unitOf(m))
	if m.Counter {
		return meter.Float64ObservableCounter(name, help, unit)
	}
	return meter.Float64ObservableGauge(name, help, unit)
}

// unitOf is a unit as UCUM writes it, which OpenTelemetry requires.
func unitOf(m stats.Metric) string {
	switch m.Unit {
	case "bytes":
		return "By"
	case "bool":
		return "1"
	}
	return m.Unit
}
