package live

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"

	"github.com/firncache/firn/stats"
)

// prometheus is the metrics of the caches that there still are in Prometheus' text format,
// version 0.0.4, by the names of module metrics/firnprometheus.
func (c *collector) prometheus() []byte {
	var labels []string
	var stats []stats.Cache
	var counters []above
	for i, s := range c.caches {
		if cache := s.cache.Value(); cache != nil {
			labels = append(labels, `cache="`+labelEscaper.Replace(strings.ToValidUTF8(s.name, "\uFFFD"))+`"`)
			stats = append(stats, cache.Stats())
			counters = append(counters, c.above[i])
		}
	}
	var b []byte
	for _, m := range allMetrics {
		b = appendFamily(b, m, labels, stats)
	}
	return appendCounters(b, labels, counters)
}

// appendCounters appends the counters of all caches, family by family, in the order in which they come first. It
// leaves out what is no metric of its own.
func appendCounters(b []byte, labels []string, all []above) []byte {
	var order []string
	families := map[string][]byte{}
	for i, a := range all {
		if a == nil {
			continue
		}
		seen := map[string]bool{} // of this cache
		a(func(name, help string, value uint64) {
			valid := counterName.MatchString(name)
			name = prometheusName(stats.Metric{Name: name, Counter: true})
			if !valid || seen[name] || bytes.Contains(b, []byte("# TYPE "+name+" ")) {
				return
			}
			seen[name] = true
			if families[name] == nil {
				order = append(order, name)
				families[name] = []byte("# HELP " + name + " " + helpEscaper.Replace(strings.ToValidUTF8(help, "\uFFFD")) + "\n# TYPE " + name + " counter\n")
			}
			families[name] = appendSample(families[name], name, labels[i], float64(value))
		})
	}
	for _, name := range order {
		b = append(b, families[name]...)
	}
	return b
}

var (
	counterName  = regexp.MustCompile(`^[a-z0-9_]+$`)
	labelEscaper = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)
	helpEscaper  = strings.NewReplacer(`\`, `\\`, "\n", `\n`)
)

// prometheusName is what firnprometheus.Name says.
func prometheusName(m stats.Metric) string {
	name := "firn_" + m.Name
	if m.Unit == "ns" {
		name += "_seconds"
	}
	if m.Counter && m.Histogram == nil {
		name += "_total"
	}
	return name
}

// appendFamily appends a metric of all caches.
func appendFamily(b []byte, m stats.Metric, labels []string, stats []stats.Cache) []byte {
	name, kind := prometheusName(m), "gauge"
	switch {
	case m.Histogram != nil:
		kind = "histogram"
	case m.Counter:
		kind = "counter"
	}
	b = append(b, "# HELP "+name+" "+helpEscaper.Replace(m.Help)+"\n# TYPE "+name+" "+kind+"\n"...)
	for i := range stats {
		switch {
		case m.Histogram != nil:
			b = appendHistogram(b, name, labels[i], m.Histogram(&stats[i]), m.Value(&stats[i])/1e9)
		case m.Unit == "ns":
			b = appendSample(b, name, labels[i], m.Value(&stats[i])/1e9)
		default:
			b = appendSample(b, name, labels[i], m.Value(&stats[i]))
		}
	}
	return b
}

func appendHistogram(b []byte, name, label string, h *stats.Histogram, sum float64) []byte {
	for bound, count := range h.Buckets() {
		le := strconv.FormatFloat(bound.Seconds(), 'g', -1, 64)
		b = appendSample(b, name+"_bucket", label+`,le="`+le+`"`, float64(count))
	}
	b = appendSample(b, name+"_bucket", label+`,le="+Inf"`, float64(h.Count()))
	b = appendSample(b, name+"_sum", label, sum)
	return appendSample(b, name+"_count", label, float64(h.Count()))
}

func appendSample(b []byte, name, labels string, v float64) []byte {
	b = append(b, name+"{"+labels+"} "...)
	return append(strconv.AppendFloat(b, v, 'g', -1, 64), '\n')
}
