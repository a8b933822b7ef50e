package firnotel_test

import (
	"context"
	"maps"
	"strconv"
	"testing"

	"github.com/firncache/firn"
	"github.com/firncache/firn/metrics/firnotel"
	"github.com/firncache/firn/metrics/internal/statstest"
	"github.com/firncache/firn/stats"
	"go.opentelemetry.io/otel/attribute"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// collect reads every instrument, by name.
func collect(t *testing.T, reader sdk.Reader) map[string]metricdata.Metrics {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := reader.Collect(context.Background(), &all); err != nil {
		t.Fatal(err)
	}
	found := map[string]metricdata.Metrics{}
	for _, scope := range all.ScopeMetrics {
		if scope.Scope.Name != firnotel.Scope {
			t.Errorf("scope %q", scope.Scope.Name)
		}
		for _, m := range scope.Metrics {
			found[m.Name] = m
		}
	}
	return found
}

// points are an instrument's values by cache, and whether it is a counter.
func points(t *testing.T, m metricdata.Metrics) (values map[string]float64, counter bool) {
	t.Helper()
	var list []metricdata.DataPoint[float64]
	switch data := m.Data.(type) {
	case metricdata.Sum[float64]:
		list, counter = data.DataPoints, data.IsMonotonic && data.Temporality == metricdata.CumulativeTemporality
	case metricdata.Gauge[float64]:
		list = data.DataPoints
	default:
		t.Errorf("%s has the type %T", m.Name, m.Data)
	}
	values = map[string]float64{}
	for _, p := range list {
		cache, _ := p.Attributes.Value(attribute.Key("cache"))
		values[cache.AsString()] = p.Value
	}
	return values, counter
}

// What a reader collects is what Stats says, of each cache.
func TestCollect(t *testing.T) {
	reader := sdk.NewManualReader()
	provider := sdk.NewMeterProvider(sdk.WithReader(reader))
	sources := map[string]statstest.Fixed{"one": statstest.Distinct(1), "two": statstest.Distinct(2)}
	for name, src := range sources {
		if _, err := firnotel.Register(provider, name, src); err != nil {
			t.Fatal(err)
		}
	}
	found := collect(t, reader)
	distributions := sources["one"].Histograms()
	if want := len(stats.Metrics()) + len(distributions); len(found) != want || len(distributions) == 0 {
		t.Errorf("%d instruments, want %d", len(found), want)
	}
	for name := range distributions {
		for cache, src := range sources {
			wantBuckets(t, found["firn."+name+".bucket"], cache, src.Histograms()[name])
		}
	}
	units := map[string]string{"1": "1", "bytes": "By", "bool": "1", "ns": "ns"}
	for _, m := range stats.Metrics() {
		got := found["firn."+m.Name]
		values, counter := points(t, got)
		if counter != m.Counter || got.Description != m.Help || got.Unit != units[m.Unit] || got.Unit == "" {
			t.Errorf("%s: counter %v, description %q, unit %q: want those of %+v", m.Name, counter, got.Description, got.Unit, m.Name)
		}
		for cache, src := range sources {
			if v, ok := values[cache]; !ok || v != src.Values()[m.Name] {
				t.Errorf("%s of %s is %v, %v: want %v", m.Name, cache, v, ok, src.Values()[m.Name])
			}
		}
	}
}

// wantBuckets wants a cache's buckets of a histogram, by their bounds in nanoseconds.
func wantBuckets(t *testing.T, m metricdata.Metrics, cache string, h *stats.Histogram) {
	t.Helper()
	want := map[string]float64{"+Inf": float64(h.Count())}
	for bound, count := range h.Buckets() {
		want[strconv.Itoa(int(bound))] = float64(count)
	}
	got := map[string]float64{}
	data, _ := m.Data.(metricdata.Sum[float64])
	for _, p := range data.DataPoints {
		of, _ := p.Attributes.Value("cache")
		if le, _ := p.Attributes.Value("le"); of.AsString() == cache {
			got[le.AsString()] = p.Value
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("%s of %s: %v, want %v", m.Name, cache, got, want)
	}
}

// A cache is observed anew at each collection, until it is unregistered.
func TestLive(t *testing.T) {
	c, err := firn.Open(firn.Options{RAMBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	reader := sdk.NewManualReader()
	registration, err := firnotel.Register(sdk.NewMeterProvider(sdk.WithReader(reader)), "live", c)
	if err != nil {
		t.Fatal(err)
	}
	for want := range 3 {
		if values, _ := points(t, collect(t, reader)["firn.sets"]); values["live"] != float64(want) {
			t.Errorf("%v sets, want %d", values["live"], want)
		}
		if err := c.Set([]byte("k"), []byte("v")); err != nil {
			t.Fatal(err)
		}
	}
	if err := registration.Unregister(); err != nil {
		t.Fatal(err)
	}
	if m, ok := collect(t, reader)["firn.sets"]; ok {
		t.Errorf("collected after Unregister: %+v", m)
	}
}
