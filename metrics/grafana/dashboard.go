package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/firncache/firn/metrics/firnprometheus"
	"github.com/firncache/firn/stats"
	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/heatmap"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"
	"github.com/grafana/grafana-foundation-sdk/go/units"
)

// ofEach are gauges of which a sum over processes says nothing: enumerations and percents. The highest counts.
var ofEach = map[string]bool{"ssd_read_engine": true, "ssd_admitted_percent": true}

// build makes the dashboard: the rows, and one for the metrics that are in none.
func build(rows []row, metrics []stats.Metric) (dashboard.Dashboard, error) {
	d := dashboard.NewDashboardBuilder("firn").
		Uid("firn").
		Description("Caches of github.com/firncache/firn, as package firnprometheus exports them.").
		Tags([]string{"firn", "cache"}).
		Time("now-1h", "now").
		Refresh("30s").
		Tooltip(dashboard.DashboardCursorSyncCrosshair).
		WithVariable(dashboard.NewDatasourceVariableBuilder("datasource").Label("Data source").Type("prometheus")).
		WithVariable(variable("job", "Job", metrics[0], "")).
		WithVariable(variable("instance", "Instance", metrics[0], `{job=~"$job"}`)).
		WithVariable(variable("cache", "Cache", metrics[0], `{job=~"$job",instance=~"$instance"}`))
	byName := map[string]stats.Metric{}
	for _, m := range metrics {
		byName[m.Name] = m
	}
	for i, r := range append(rows[:len(rows):len(rows)], row{"More", rest(rows, metrics)}) {
		if len(r.panels) == 0 {
			continue
		}
		line := dashboard.NewRowBuilder(r.title).Collapsed(i > 0) // the first one is the overview
		if i == 0 {
			d.WithRow(line)
		}
		for _, p := range r.panels {
			graph, err := p.draw(byName)
			switch {
			case err != nil:
				return dashboard.Dashboard{}, err
			case i == 0:
				d.WithPanel(graph)
			default:
				line.WithPanel(graph)
			}
		}
		if i > 0 {
			d.WithRow(line)
		}
	}
	return d.Build()
}

// variable lists the values of a label of a metric, as other variables select it.
func variable(label, title string, m stats.Metric, of string) *dashboard.QueryVariableBuilder {
	query := fmt.Sprintf("label_values(%s%s, %s)", firnprometheus.Name(m), of, label)
	return dashboard.NewQueryVariableBuilder(label).
		Label(title).
		Datasource(datasource()).
		Query(dashboard.StringOrMap{String: &query}).
		Refresh(dashboard.VariableRefreshOnTimeRangeChanged).
		Multi(true).
		IncludeAll(true).
		AllValue(".+")
}

func datasource() common.DataSourceRef {
	kind, uid := "prometheus", "${datasource}"
	return common.DataSourceRef{Type: &kind, Uid: &uid}
}

// rest makes panels for the metrics that no row names: one for each unit, of
// counters and of gauges.
func rest(rows []row, metrics []stats.Metric) []panel {
	shown := map[string]bool{}
	for _, r := range rows {
		for _, p := range r.panels {
			for _, name := range p.metrics {
				shown[name] = true
			}
		}
	}
	type group struct {
		counter bool
		unit    string
	}
	groups := map[group]*panel{}
	var order []group
	for _, m := range metrics {
		g := group{m.Counter, m.Unit}
		if shown[m.Name] {
			continue
		}
		if groups[g] == nil {
			kind := "gauges"
			if m.Counter {
				kind = "rates"
			}
			groups[g] = &panel{title: fmt.Sprintf("More %s (%s)", kind, unitNames[m.Unit])}
			order = append(order, g)
		}
		groups[g].metrics = append(groups[g].metrics, m.Name)
	}
	slices.SortFunc(order, func(a, b group) int { return cmp.Compare(groups[a].title, groups[b].title) })
	var panels []panel
	for _, g := range order {
		panels = append(panels, *groups[g])
	}
	return panels
}

// unitNames are the units of stats.Metrics for a headline.
var unitNames = map[string]string{"1": "numbers", "bytes": "bytes", "bool": "0 or 1", "ns": "time"}

// draw is the panel as Grafana draws it: a query of its own, a heatmap, or a graph of metrics.
func (p panel) draw(byName map[string]stats.Metric) (cog.Builder[dashboard.Panel], error) {
	switch {
	case p.query != "":
		query := prometheus.NewDataqueryBuilder().RefId("A").Expr(p.query).LegendFormat(p.legend)
		return timeseries.NewPanelBuilder().Title(p.title).Datasource(datasource()).Height(8).Span(8).Min(0).Unit(units.PercentUnit).WithTarget(query), nil
	case p.heat != "":
		m, ok := byName[p.heat]
		if !ok || m.Histogram == nil {
			return nil, fmt.Errorf("panel %q: %s: want a distribution that exists", p.title, p.heat)
		}
		rates := "sum by (le) (rate(" + firnprometheus.Name(m) + "_bucket" + chosen + "[$__rate_interval]))"
		query := prometheus.NewDataqueryBuilder().RefId("A").Expr(rates).Format(prometheus.PromQueryFormatHeatmap).LegendFormat("{{le}}")
		return heatmap.NewPanelBuilder().Title(p.title).Description(m.Help).Datasource(datasource()).Height(8).Span(8).Calculate(false).WithTarget(query), nil
	}
	return p.graph(byName)
}

// graph is a panel of metrics.
func (p panel) graph(byName map[string]stats.Metric) (*timeseries.PanelBuilder, error) {
	var about, summands []string
	graph := timeseries.NewPanelBuilder().
		Title(p.title).
		Datasource(datasource()).
		Height(8).Span(8).
		Min(0).
		Legend(common.NewVizLegendOptionsBuilder().DisplayMode(common.LegendDisplayModeList).Placement(common.LegendPlacementBottom).ShowLegend(true))
	first, ok := byName[p.metrics[0]]
	for i, name := range p.metrics {
		m, known := byName[name]
		if !known || !ok || m.Unit != first.Unit || m.Counter != first.Counter {
			return nil, fmt.Errorf("panel %q: %s: want metrics that exist, of one unit and kind", p.title, name)
		}
		about = append(about, name+": "+m.Help)
		summands = append(summands, expression(m))
		switch {
		case p.share != "":
		case m.Histogram != nil:
			for k, quantile := range []string{"0.5", "0.99", "0.999"} {
				graph.WithTarget(prometheus.NewDataqueryBuilder().RefId(string(rune('A' + 3*i + k))).Expr(quantileOf(m, quantile)).LegendFormat("{{cache}} " + name + " " + quantile))
			}
		default:
			graph.WithTarget(prometheus.NewDataqueryBuilder().RefId(string(rune('A' + i))).Expr(expression(m)).LegendFormat("{{cache}} " + name))
		}
	}
	graph.Description(strings.Join(about, "\n\n"))
	if p.share == "" {
		return graph.Unit(unit(first)), nil
	}
	ratio := expression(byName[p.share]) + "\n/ (" + strings.Join(summands, "\n+ ") + ")"
	return graph.Unit(units.PercentUnit).Max(1).
		WithTarget(prometheus.NewDataqueryBuilder().RefId("A").Expr(ratio).LegendFormat("{{cache}}")), nil
}

// expression is a metric's query, by cache: a counter's rate, or a gauge, summed
// over the processes where that makes sense; of switches and of durations the worst.
func expression(m stats.Metric) string {
	name := firnprometheus.Name(m) + chosen
	switch {
	case m.Counter:
		return "sum by (cache) (rate(" + name + "[$__rate_interval]))"
	case m.Unit == "bool":
		return "min by (cache) (" + name + ")"
	case m.Unit == "ns" || ofEach[m.Name]:
		return "max by (cache) (" + name + ")"
	}
	return "sum by (cache) (" + name + ")"
}

// quantileOf is the query of a distribution's quantile, by cache, over all processes.
func quantileOf(m stats.Metric, quantile string) string {
	return "histogram_quantile(" + quantile + ", sum by (cache, le) (rate(" + firnprometheus.Name(m) + "_bucket" + chosen + "[$__rate_interval])))"
}

// unit is a metric's unit as Grafana calls it.
func unit(m stats.Metric) string {
	switch {
	case m.Unit == "bytes" && m.Counter:
		return units.BytesPerSecondIEC
	case m.Unit == "bytes":
		return units.BytesIEC
	case m.Unit == "ns" && (!m.Counter || m.Histogram != nil): // which Prometheus has in seconds
		return units.Seconds
	case m.Counter:
		return units.OpsPerSecond
	}
	return units.Short
}
