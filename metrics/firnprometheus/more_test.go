package firnprometheus_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/firncache/firn/metrics/firnprometheus"
	"github.com/firncache/firn/stats"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

// many is a source with a curve and many namespaces.
type many struct{ spaces map[string]stats.Namespace }

func (many) Stats() stats.Cache { return stats.Cache{} }

func (many) Curve() stats.Curve {
	return stats.Curve{RAM: stats.SizeCurve{Points: []stats.CurvePoint{
		{Factor: .5, Bytes: 50, State: stats.CurveValid, MissRatio: .25, Error: .01}, {Factor: 2, State: stats.CurveFilling},
	}}}
}

func (m many) StatsByNamespace() map[string]stats.Namespace { return m.spaces }

// The curve has its valid points. A hundred namespaces have a label of their own, which stays theirs; the
// rest is other.
func TestCurveAndNamespaces(t *testing.T) {
	src := many{map[string]stats.Namespace{}}
	for i := range 150 {
		src.spaces[fmt.Sprintf("n%03d", i)] = stats.Namespace{Hits: uint64(1000 - i), Misses: 1}
	}
	registry := prometheus.NewPedanticRegistry()
	if err := registry.Register(firnprometheus.NewCollector("c", src)); err != nil {
		t.Fatal(err)
	}
	want := map[string]float64{
		`firn_curve_miss_ratio{cache="c",factor="0.5",memory="ram"}`: .25, `firn_curve_bytes{cache="c",factor="0.5",memory="ram"}`: 50,
		`firn_namespace_hits_total{cache="c",namespace="n000"}`: 1000, `firn_namespace_misses_total{cache="c",namespace="other"}`: 50,
	}
	for range 2 {
		samples, _ := scrape(t, registry)
		labels := 0
		for name := range samples {
			var space string
			if n, _ := fmt.Sscanf(name, `firn_namespace_hits_total{cache="c",namespace=%q}`, &space); n == 1 {
				labels++
			}
		}
		if labels != 101 || samples[`firn_curve_miss_ratio{cache="c",factor="2",memory="ram"}`] != 0 {
			t.Errorf("%d labels, want 101", labels)
		}
		for name, v := range want {
			if samples[name] != v {
				t.Errorf("%s is %v, want %v", name, samples[name], v)
			}
		}
		src.spaces["n149"] = stats.Namespace{Hits: 1e6, Misses: 1} // the most, and too late for a label
	}
	if problems, err := testutil.GatherAndLint(registry); err != nil || len(problems) > 0 {
		t.Errorf("names and help texts: %v %v", problems, err)
	}
}

// Namespaces may have any bytes, labels may not: those of one label are summed.
func TestNamespacesThatAreNotText(t *testing.T) {
	r := prometheus.NewPedanticRegistry()
	r.MustRegister(firnprometheus.NewCollector("sessions", many{map[string]stats.Namespace{"a\xff": {Sets: 1}, "a\xfe": {Sets: 2}}}))
	const want = "# HELP firn_namespace_sets_total Values stored by calls.\n# TYPE firn_namespace_sets_total counter\n" +
		"firn_namespace_sets_total{cache=\"sessions\",namespace=\"a\uFFFD\"} 3\n"
	if err := testutil.GatherAndCompare(r, strings.NewReader(want), "firn_namespace_sets_total"); err != nil {
		t.Error(err)
	}
}
