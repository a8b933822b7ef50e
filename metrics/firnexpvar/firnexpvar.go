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
		values := make(map[string]float64, len(firn.Metrics))
		for _, m := range firn.Metrics {
			if v := m.Value(&s); !math.IsNaN(v) && !math.IsInf(v, 0) { // which JSON cannot say
				values[m.Name] = v
			}
		}
		return values
	})
}
