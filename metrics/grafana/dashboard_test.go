package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/firncache/firn/metrics/firnprometheus"
	"github.com/firncache/firn/stats"
	"github.com/grafana/grafana-foundation-sdk/go/cog/plugins"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

// The file is what the generator writes.
func TestFileIsCurrent(t *testing.T) {
	want, err := render()
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("dashboard.json is older than stats.Metrics or the generator: run go generate in metrics/grafana")
	}
}

// load reads the file as strictly as Grafana's published schema allows: an
// unknown field, a missing one or one of the wrong type is an error.
func load(t *testing.T) dashboard.Dashboard {
	t.Helper()
	data, err := os.ReadFile("dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	d, err := strict(data)
	if err != nil {
		t.Fatalf("dashboard.json: %v", err)
	}
	return d
}

func strict(data []byte) (dashboard.Dashboard, error) {
	plugins.RegisterDefaultPlugins()
	var d dashboard.Dashboard
	if err := d.UnmarshalJSONStrict(data); err != nil {
		return d, err
	}
	return d, d.Validate()
}

// The file conforms to Grafana's schema of dashboards, and the check can tell.
func TestSchema(t *testing.T) {
	d := load(t)
	if d.SchemaVersion == 0 || d.Title == nil || d.Uid == nil {
		t.Errorf("schema version %d, title %v, uid %v: want all of them", d.SchemaVersion, d.Title, d.Uid)
	}
	good, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]string{
		{`"title":"Hit ratio"`, `"titel":"Hit ratio"`},
		{`"graphTooltip":1`, `"graphTooltip":"1"`},
		{`"expr":`, `"expression":`},
	} {
		bad := bytes.Replace(good, []byte(c[0]), []byte(c[1]), 1)
		if bytes.Equal(bad, good) {
			t.Errorf("%s does not occur", c[0])
		} else if _, err := strict(bad); err == nil {
			t.Errorf("%s in place of %s passes the check", c[1], c[0])
		}
	}
}

// Panels lie side by side, and none on another.
func TestPanelsDoNotOverlap(t *testing.T) {
	taken := map[[2]uint32]string{}
	for _, p := range panels(t) {
		pos := p.GridPos
		if pos == nil || pos.X+pos.W > 24 || pos.H == 0 || pos.W == 0 {
			t.Errorf("%s lies at %+v", *p.Title, pos)
			continue
		}
		for x := pos.X; x < pos.X+pos.W; x++ {
			for y := pos.Y; y < pos.Y+pos.H; y++ {
				if other, ok := taken[[2]uint32{x, y}]; ok {
					t.Fatalf("%s lies on %s", *p.Title, other)
				}
				taken[[2]uint32{x, y}] = *p.Title
			}
		}
	}
}

func panels(t *testing.T) []dashboard.Panel {
	var list []dashboard.Panel
	for _, p := range load(t).Panels {
		if p.Panel != nil {
			list = append(list, *p.Panel)
		}
		if p.RowPanel != nil {
			list = append(list, p.RowPanel.Panels...)
		}
	}
	if len(list) == 0 {
		t.Fatal("no panels")
	}
	return list
}

// Every query is PromQL, asks for metrics that firnprometheus exports, for the
// chosen caches, and takes the rate of counters and of nothing else. Every
// metric is asked for.
func TestQueries(t *testing.T) {
	metrics := map[string]stats.Metric{}
	for _, m := range stats.Metrics() {
		name := firnprometheus.Name(m)
		if m.Histogram != nil {
			name += "_bucket"
		}
		metrics[name] = m
	}
	for name, m := range others(t) {
		metrics[name] = m
	}
	asked := map[string]bool{}
	for _, p := range panels(t) {
		if len(p.Targets) == 0 {
			t.Errorf("%s has no query", *p.Title)
		}
		for _, target := range p.Targets {
			names, err := check(expr(t, target), metrics)
			if err != nil {
				t.Errorf("%s: %v", *p.Title, err)
			}
			for _, name := range names {
				asked[name] = true
			}
		}
	}
	for name := range metrics {
		if !asked[name] && !strings.HasPrefix(name, "firn_curve_") && !strings.HasPrefix(name, "firn_namespace_") {
			t.Errorf("no panel shows %s", name)
		}
	}
}

// others are the metrics of a collector that are not of stats.Metrics.
func others(t *testing.T) map[string]stats.Metric {
	t.Helper()
	descs := make(chan *prometheus.Desc, 1000)
	firnprometheus.NewCollector("c", statsOf{}).Describe(descs)
	close(descs)
	found := map[string]stats.Metric{}
	for d := range descs {
		_, name, _ := strings.Cut(d.String(), `fqName: "`)
		name, _, _ = strings.Cut(name, `"`)
		if strings.HasPrefix(name, "firn_curve_") || strings.HasPrefix(name, "firn_namespace_") {
			found[name] = stats.Metric{Counter: strings.HasSuffix(name, "_total")}
		}
	}
	if len(found) < 5 {
		t.Fatalf("%d metrics of the curve and of namespaces", len(found))
	}
	return found
}

type statsOf struct{}

func (statsOf) Stats() stats.Cache { return stats.Cache{} }

// The alerts are PromQL over metrics that exist.
func TestAlerts(t *testing.T) {
	data, err := os.ReadFile("alerts.yml")
	if err != nil {
		t.Fatal(err)
	}
	known := others(t)
	for _, m := range stats.Metrics() {
		known[firnprometheus.Name(m)] = m
	}
	n := 0
	for line := range strings.Lines(string(data)) {
		_, expr, ok := strings.Cut(line, "expr: ")
		if !ok {
			continue
		}
		n++
		root, err := parser.NewParser(parser.Options{}).ParseExpr(strings.TrimSpace(expr))
		if err != nil {
			t.Fatalf("%s: %v", expr, err)
		}
		parser.Inspect(root, func(node parser.Node, _ []parser.Node) error {
			if s, ok := node.(*parser.VectorSelector); ok && known[s.Name].Value == nil && !strings.HasPrefix(s.Name, "firn_namespace_") {
				t.Errorf("%s: no such metric: %s", expr, s.Name)
			}
			return nil
		})
	}
	if n < 5 {
		t.Errorf("%d alerts", n)
	}
}

// Rows but the overview are collapsed, with their panels in them.
func TestRows(t *testing.T) {
	rows := 0
	for _, p := range load(t).Panels {
		if p.RowPanel == nil {
			continue
		}
		if first := rows == 0; p.RowPanel.Collapsed == first || (len(p.RowPanel.Panels) == 0) != first {
			t.Errorf("row %d is collapsed: %v, with %d panels", rows, p.RowPanel.Collapsed, len(p.RowPanel.Panels))
		}
		rows++
	}
	if rows < 5 {
		t.Errorf("%d rows", rows)
	}
}

// The check of queries finds each kind of mistake.
func TestQueryCheck(t *testing.T) {
	metrics := map[string]stats.Metric{"firn_hits_total": {Counter: true}, "firn_entries": {}}
	for query, good := range map[string]bool{
		`sum by (cache) (rate(firn_hits_total{job=~"$job",instance=~"$instance",cache=~"$cache"}[$__rate_interval]))`: true,
		`sum by (cache) (firn_entries{job=~"$job",instance=~"$instance",cache=~"$cache"})`:                            true,
		`sum by (cache) (firn_entries{job=~"$job",instance=~"$instance",cache=~"$cache"}`:                             false,
		`firn_hits_total{job=~"$job",instance=~"$instance",cache=~"$cache"}`:                                          false,
		`rate(firn_entries{job=~"$job",instance=~"$instance",cache=~"$cache"}[$__rate_interval])`:                     false,
		`firn_entries`:                   false,
		`firn_entries{cachee=~"$cache"}`: false,
		`firn_enteries{job=~"$job",instance=~"$instance",cache=~"$cache"}`: false,
		`irate(firn_hits{cache="$c"}[1h])`:                                 false,
		`sum by (cache) (vector(1))`:                                       false,
		`label_values(firn_entries, cache)`:                                false,
	} {
		if _, err := check(query, metrics); (err == nil) != good {
			t.Errorf("%s: %v", query, err)
		}
	}
}

// check parses a query and returns the metrics in it.
func check(query string, metrics map[string]stats.Metric) (names []string, err error) {
	plain := strings.NewReplacer("$__rate_interval", "5m", "$cache", ".+", "$job", ".+", "$instance", ".+").Replace(query)
	root, err := parser.NewParser(parser.Options{}).ParseExpr(plain)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", query, err)
	}
	parser.Inspect(root, func(node parser.Node, path []parser.Node) error {
		selector, ok := node.(*parser.VectorSelector)
		if !ok {
			return nil
		}
		m, known := metrics[selector.Name]
		inRate := slices.ContainsFunc(path, func(n parser.Node) bool {
			call, ok := n.(*parser.Call)
			return ok && call.Func.Name == "rate"
		})
		chosen := 0
		for _, m := range selector.LabelMatchers {
			if m.Type == labels.MatchRegexp && m.Value == ".+" && slices.Contains([]string{"job", "instance", "cache"}, m.Name) {
				chosen++
			}
		}
		switch {
		case !known:
			err = fmt.Errorf("%s: no such metric: %s", query, selector.Name)
		case inRate != m.Counter:
			err = fmt.Errorf("%s: rate %v, counter %v: want the rates of counters", query, inRate, m.Counter)
		case chosen != 3:
			err = fmt.Errorf("%s: want the jobs, instances and caches that were chosen", query)
		}
		names = append(names, selector.Name)
		return nil
	})
	if err == nil && len(names) == 0 {
		err = fmt.Errorf("%s: no metric", query)
	}
	return names, err
}

// expr is the text of a panel's query.
func expr(t *testing.T, target any) string {
	t.Helper()
	data, err := json.Marshal(target)
	if err != nil {
		t.Fatal(err)
	}
	var query struct{ Expr string }
	if err := json.Unmarshal(data, &query); err != nil || query.Expr == "" {
		t.Fatalf("%s: %v: want a query", data, err)
	}
	return query.Expr
}

// The list of caches comes from a metric that exists.
func TestVariables(t *testing.T) {
	var names []string
	for _, v := range load(t).Templating.List {
		names = append(names, v.Name)
		if v.Name == "cache" && (v.Query == nil || v.Query.String == nil ||
			*v.Query.String != "label_values("+firnprometheus.Name(stats.Metrics()[0])+`{job=~"$job",instance=~"$instance"}, cache)`) {
			t.Errorf("the query of $cache: %+v", v.Query)
		}
	}
	if !slices.Equal(names, []string{"datasource", "job", "instance", "cache"}) {
		t.Errorf("variables %v", names)
	}
}

// A panel of metrics that do not go together, or do not exist, is an error; a
// metric that no panel names is shown at the end.
func TestBuild(t *testing.T) {
	metrics := []stats.Metric{{Name: "a", Unit: "1"}, {Name: "b", Unit: "bytes"}, {Name: "c", Unit: "1", Counter: true}}
	for _, bad := range [][]string{{"a", "b"}, {"a", "c"}, {"d"}} {
		if _, err := build([]row{{"r", []panel{{title: "p", metrics: bad}}}}, metrics); err == nil {
			t.Errorf("panel of %v: no error", bad)
		}
	}
	d, err := build([]row{{"r", []panel{{title: "p", metrics: []string{"a"}}}}}, metrics)
	if err != nil {
		t.Fatal(err)
	}
	var titles []string
	for _, p := range d.Panels {
		if p.Panel != nil {
			titles = append(titles, *p.Panel.Title)
			continue
		}
		for _, inner := range p.RowPanel.Panels {
			titles = append(titles, *inner.Title)
		}
	}
	if want := []string{"p", "More gauges (bytes)", "More rates (numbers)"}; !slices.Equal(titles, want) {
		t.Errorf("panels %q, want %q", titles, want)
	}
}
