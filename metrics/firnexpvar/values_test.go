package firnexpvar

import (
	"maps"
	"math"
	"testing"

	"github.com/firncache/firn"
)

// A value that JSON cannot say is left out, and spoils no other.
func TestNotFinite(t *testing.T) {
	got := values([]firn.Metric{
		{Name: "ratio", Value: func(*firn.Stats) float64 { return math.NaN() }},
		{Name: "rate", Value: func(*firn.Stats) float64 { return math.Inf(1) }},
		{Name: "sets", Value: func(s *firn.Stats) float64 { return float64(s.Sets) }},
	}, &firn.Stats{Sets: 7})
	if want := map[string]float64{"sets": 7}; !maps.Equal(got, want) {
		t.Errorf("got %v: want %v", got, want)
	}
}
