package firnexpvar_test

import (
	"encoding/json"
	"expvar"
	"maps"
	"net/http/httptest"
	"testing"

	"github.com/firncache/firn"
	"github.com/firncache/firn/metrics/firnexpvar"
	"github.com/firncache/firn/metrics/internal/statstest"
)

// What /debug/vars serves is what Stats says.
func TestScrape(t *testing.T) {
	one, two := statstest.Distinct(1), statstest.Distinct(2)
	vars := expvar.NewMap("caches")
	vars.Set("one", firnexpvar.Var(one))
	vars.Set("two", firnexpvar.Var(two))

	w := httptest.NewRecorder()
	expvar.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/debug/vars", nil))
	var page struct{ Caches map[string]map[string]float64 }
	if err := json.Unmarshal(w.Body.Bytes(), &page); err != nil {
		t.Fatalf("%v\n%s", err, w.Body)
	}
	for name, want := range map[string]statstest.Fixed{"one": one, "two": two} {
		values := want.Values()
		for name, h := range want.Histograms() {
			delete(values, name)
			values[name+"_count"], values[name+"_sum"] = float64(h.Count()), float64(h.Sum())
			values[name+"_p50"], values[name+"_p99"], values[name+"_p999"] = float64(h.Quantile(.5)), float64(h.Quantile(.99)), float64(h.Quantile(.999))
		}
		if got := page.Caches[name]; !maps.Equal(got, values) {
			t.Errorf("%s: got %v, want %v", name, got, values)
		}
	}
}

// Statistics are read anew each time, and also from a closed cache.
func TestLive(t *testing.T) {
	c, err := firn.Open(firn.Options{RAMBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	v := firnexpvar.Var(c)
	sets := func() float64 {
		var values map[string]float64
		if err := json.Unmarshal([]byte(v.String()), &values); err != nil {
			t.Fatalf("%v: %s", err, v)
		}
		return values["sets"]
	}
	if got := sets(); got != 0 {
		t.Errorf("%v sets before the first", got)
	}
	if err := c.Set([]byte("k"), []byte("v")); err != nil {
		t.Fatal(err)
	}
	if got := sets(); got != 1 {
		t.Errorf("%v sets, want 1", got)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if got := sets(); got != 1 {
		t.Errorf("%v sets after Close, want 1", got)
	}
}
