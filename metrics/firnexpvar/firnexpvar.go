// Package firnexpvar shows a cache's statistics as an expvar:
//
//	expvar.Publish("sessions", firnexpvar.Var(cache))
//
// or several below one name:
//
//	caches := expvar.NewMap("caches")
//	caches.Set("sessions", firnexpvar.Var(sessions))
//
// Package expvar serves them at /debug/vars, as an object of the names and
// values of [stats.Metrics]; for a distribution the names end in _count, _sum, _p50, _p99 and
// _p999, all in nanoseconds except the count.
package firnexpvar

import (
	"expvar"
	"math"

	"github.com/firncache/firn/stats"
)

// Source is what has statistics: a *firn.Cache.
type Source interface {
	Stats() stats.Cache
}

// Var is a variable that reads the statistics whenever it is read itself. It
// holds on to src.
func Var(src Source) expvar.Var {
	return expvar.Func(func() any {
		s := src.Stats()
		return values(stats.Metrics(), &s)
	})
}

// values are the values of metrics, by name. Those that JSON cannot say are left out.
func values(metrics []stats.Metric, s *stats.Cache) map[string]float64 {
	values := make(map[string]float64, len(metrics))
	for _, m := range metrics {
		if m.Histogram != nil {
			addHistogram(values, m, s)
		} else if v := m.Value(s); !math.IsNaN(v) && !math.IsInf(v, 0) {
			values[m.Name] = v
		}
	}
	return values
}

func addHistogram(values map[string]float64, m stats.Metric, s *stats.Cache) {
	h, name := m.Histogram(s), m.Name
	values[name+"_count"] = float64(h.Count())
	values[name+"_sum"] = m.Value(s)
	values[name+"_p50"] = float64(h.Quantile(.5))
	values[name+"_p99"] = float64(h.Quantile(.99))
	values[name+"_p999"] = float64(h.Quantile(.999))
}
