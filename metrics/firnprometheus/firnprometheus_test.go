package firnprometheus_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/firncache/firn"
	"github.com/firncache/firn/metrics/firnprometheus"
	"github.com/firncache/firn/metrics/internal/statstest"
	"github.com/firncache/firn/stats"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

// scrape reads the samples, help texts and types that a server gives out.
func scrape(t *testing.T, registry *prometheus.Registry) (samples map[string]float64, page string) {
	t.Helper()
	server := httptest.NewServer(promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	defer server.Close()
	resp, err := http.Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %v\n%s", resp.Status, err, body)
	}
	samples = map[string]float64{}
	for line := range strings.Lines(string(body)) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), " "); ok && name != "#" {
			if samples[name], err = strconv.ParseFloat(value, 64); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
		}
	}
	return samples, string(body)
}

// What a server scrapes is what Stats says, of each cache.
func TestScrape(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	sources := map[string]statstest.Fixed{"one": statstest.Distinct(1), "two": statstest.Distinct(2)}
	for name, src := range sources {
		if err := registry.Register(firnprometheus.NewCollector(name, src)); err != nil {
			t.Fatal(err)
		}
	}
	samples, page := scrape(t, registry)
	const perHistogram = 29 + 3 // buckets; the last of them, sum and count
	distributions := len(statstest.Distinct(1).Histograms())
	if want := len(sources) * (len(stats.Metrics()) + distributions*(perHistogram-1)); len(samples) != want || distributions == 0 {
		t.Errorf("%d samples, want %d", len(samples), want)
	}
	for cache, src := range sources {
		values := src.Values()
		for _, m := range stats.Metrics() {
			name := firnprometheus.Name(m)
			if m.Histogram != nil {
				wantBuckets(t, samples, name, cache, src.Histograms()[m.Name])
				name += "_sum"
			}
			sample := fmt.Sprintf("%s{cache=%q}", name, cache)
			want := values[m.Name]
			if m.Unit == "ns" {
				want /= 1e9
			}
			if got, ok := samples[sample]; !ok || got != want {
				t.Errorf("%s is %v, %v: want %v", sample, got, ok, want)
			}
		}
	}
	for _, m := range stats.Metrics() {
		kind := "gauge"
		switch {
		case m.Histogram != nil:
			kind = "histogram"
		case m.Counter:
			kind = "counter"
		}
		for _, want := range []string{"# TYPE %[1]s " + kind + "\n", "# HELP %[1]s " + m.Help + "\n"} {
			if want := fmt.Sprintf(want, firnprometheus.Name(m)); !strings.Contains(page, want) {
				t.Errorf("no line %q", want)
			}
		}
	}
	if problems, err := testutil.GatherAndLint(registry); err != nil || len(problems) > 0 {
		t.Errorf("names and help texts: %v %v", problems, err)
	}
}

// wantBuckets wants a histogram's count, and the buckets of its bounds in seconds.
func wantBuckets(t *testing.T, samples map[string]float64, name, cache string, h *stats.Histogram) {
	t.Helper()
	want := map[string]float64{
		fmt.Sprintf("%s_count{cache=%q}", name, cache):              float64(h.Count()),
		fmt.Sprintf("%s_bucket{cache=%q,le=\"+Inf\"}", name, cache): float64(h.Count()),
	}
	for bound, count := range h.Buckets() {
		want[fmt.Sprintf("%s_bucket{cache=%q,le=\"%v\"}", name, cache, bound.Seconds())] = float64(count)
	}
	for sample, n := range want {
		if got, ok := samples[sample]; !ok || got != n {
			t.Errorf("%s is %v, %v: want %v", sample, got, ok, n)
		}
	}
}

// A cache's statistics are read anew at each scrape, and one name serves one
// cache.
func TestLive(t *testing.T) {
	c, err := firn.Open(firn.Options{RAMBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(firnprometheus.NewCollector("live", c))
	for want := range 3 {
		samples, _ := scrape(t, registry)
		if got := samples[`firn_sets_total{cache="live"}`]; got != float64(want) {
			t.Errorf("%v sets, want %d", got, want)
		}
		if err := c.Set([]byte("k"), []byte("v")); err != nil {
			t.Fatal(err)
		}
	}
	if err := registry.Register(firnprometheus.NewCollector("live", c)); err == nil {
		t.Error("a second cache of the same name: no error")
	}
}

func TestName(t *testing.T) {
	for want, m := range map[string]stats.Metric{
		"firn_hits_total":         {Name: "hits", Unit: "1", Counter: true},
		"firn_ram_bytes":          {Name: "ram_bytes", Unit: "bytes"},
		"firn_read_seconds":       {Name: "read", Unit: "ns"},
		"firn_read_seconds_total": {Name: "read", Unit: "ns", Counter: true},
		"firn_wait_seconds":       {Name: "wait", Unit: "ns", Counter: true, Histogram: func(*stats.Cache) *stats.Histogram { return nil }},
	} {
		if got := firnprometheus.Name(m); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
