package firnexpvar

import (
	"maps"
	"math"
	"testing"

	"github.com/firncache/firn/stats"
)

// A value that JSON cannot say is left out, and spoils no other.
func TestNotFinite(t *testing.T) {
	got := values([]stats.Metric{
		{Name: "ratio", Value: func(*stats.Cache) float64 { return math.NaN() }},
		{Name: "rate", Value: func(*stats.Cache) float64 { return math.Inf(1) }},
		{Name: "sets", Value: func(s *stats.Cache) float64 { return float64(s.Sets) }},
	}, &stats.Cache{Sets: 7})
	if want := map[string]float64{"sets": 7}; !maps.Equal(got, want) {
		t.Errorf("got %v: want %v", got, want)
	}
}
