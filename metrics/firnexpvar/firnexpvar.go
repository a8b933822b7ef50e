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
// values of [firn.Metrics].
package firnexpvar

import (
	"expvar"
	"math"

	"github.com/firncache/firn"
)

// Source is what has statistics: a *firn.Cache.
type Source interface {
	Stats() firn.Stats
}

// Var is a variable that reads the statistics whenever it is read itself. It
// holds on to src.
func Var(src Source) expvar.Var {
	return expvar.Func(func() any {
		s := src.Stats()
		return values(firn.Metrics(), &s)
	})
}

// values are the values of metrics, by name. Those that JSON cannot say are left out.
func values(metrics []firn.Metric, s *firn.Stats) map[string]float64 {
	values := make(map[string]float64, len(metrics))
	for _, m := range metrics {
		if v := m.Value(s); !math.IsNaN(v) && !math.IsInf(v, 0) {
			values[m.Name] = v
		}
	}
	return values
}
