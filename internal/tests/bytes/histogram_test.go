package bytes

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/firncache/firn/stats"
)

// A Histogram is shown by its quantiles, also inside other values.
func TestHistogramShown(t *testing.T) {
	var s struct{ Reads stats.Histogram }
	for range 10 {
		s.Reads.Add(8 * time.Microsecond)
	}
	s.Reads.Add(time.Hour)
	if got, want := fmt.Sprintf("%+v", s), "{Reads:n=11 mean=5m27.272734545s p50=8µs p99=2562047h47m16.854775807s p999=2562047h47m16.854775807s}"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	got, err := json.Marshal(s)
	if want := `{"Reads":{"count":11,"sum":3600000080000,"p50":8000,"p99":9223372036854775807,"p999":9223372036854775807}}`; err != nil || string(got) != want {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
	var none stats.Histogram
	if none.Mean() != 0 || none.Quantile(.5) != 0 || none.Count() != 0 {
		t.Errorf("a histogram of nothing: %v", none)
	}
}
