package firnprometheus_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/firncache/firn"
	"github.com/firncache/firn/live"
	"github.com/firncache/firn/metrics/firnprometheus"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// The metrics that package live writes by itself are those of a collector: the same names, types,
// help texts, labels and values, and a parser of Prometheus' own reads them.
func TestLiveMetricsAreTheSame(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	var caches []live.Named
	for i, name := range []string{"one", "a \"b\"\\c\nd"} {
		c, err := firn.Open(firn.Options{RAMBytes: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		for n := range i + 3 {
			if err := c.Set(fmt.Append(nil, n), []byte("v")); err != nil {
				t.Fatal(err)
			}
		}
		registry.MustRegister(firnprometheus.NewCollector(name, c))
		caches = append(caches, live.Named{Name: name, Cache: c})
	}
	w := httptest.NewRecorder()
	live.New(live.Options{Caches: caches}).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	parser := expfmt.NewTextParser(model.LegacyValidation)
	got, err := parser.TextToMetricFamilies(strings.NewReader(w.Body.String()))
	if err != nil {
		t.Fatal(err)
	}
	want, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != len(want) || len(want) == 0 {
		t.Errorf("%d metrics, want %d", len(got), len(want))
	}
	for _, family := range want {
		var ours, theirs strings.Builder
		if _, err := expfmt.MetricFamilyToText(&theirs, family); err != nil {
			t.Fatal(err)
		}
		if f := got[family.GetName()]; f == nil {
			t.Errorf("no %s", family.GetName())
			continue
		} else if _, err := expfmt.MetricFamilyToText(&ours, f); err != nil {
			t.Fatal(err)
		}
		if sorted(ours.String()) != sorted(theirs.String()) {
			t.Errorf("%s\nwant\n%s", ours.String(), theirs.String())
		}
	}
}

// sorted has the lines of a text in an order of their own: a collector sorts caches by name.
func sorted(text string) string {
	lines := strings.Split(text, "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
