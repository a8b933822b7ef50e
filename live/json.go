package live

import (
	"fmt"
	"math"
	"strconv"

	"github.com/firncache/firn/stats"
)

// allMetrics are those of firn, for all pages.
var allMetrics = stats.Metrics()

// appendStats appends the object of all metrics of a snapshot.
func appendStats(b []byte, s *stats.Cache) []byte {
	b = append(b, '{')
	for _, m := range allMetrics {
		if m.Histogram == nil {
			b = appendField(b, m.Name, m.Value(s))
			continue
		}
		h := m.Histogram(s)
		b = append(appendName(b, m.Name), '{')
		b = appendField(b, "count", float64(h.Count()))
		b = appendField(b, "sum_ns", m.Value(s))
		b = appendField(b, "p50_ns", float64(h.Quantile(.5)))
		b = appendField(b, "p99_ns", float64(h.Quantile(.99)))
		b = appendField(b, "p999_ns", float64(h.Quantile(.999)))
		b = append(b, '}')
	}
	return append(b, '}')
}

// appendName appends the name of an object's field, which needs no escaping.
func appendName(b []byte, name string) []byte {
	if last := b[len(b)-1]; last != '{' {
		b = append(b, ',')
	}
	return append(append(append(b, '"'), name...), `":`...)
}

func appendField(b []byte, name string, v float64) []byte {
	return appendNumber(appendName(b, name), v, 64)
}

// appendNumber appends a number in as few digits as tell it from others of so many bits. JSON
// has no word for what is not finite: that is 0.
func appendNumber(b []byte, v float64, bits int) []byte {
	v = finite(v)
	if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
		return strconv.AppendInt(b, int64(v), 10)
	}
	return strconv.AppendFloat(b, v, 'g', -1, bits)
}

// twice says what twice the RAM would bring, in two words; nothing where that is not known.
func twice(points []stats.CurvePoint) string {
	var now, more *stats.CurvePoint
	for i := range points {
		switch p := &points[i]; {
		case p.State != stats.CurveValid:
		case p.Factor == 1:
			now = p
		case p.Factor == 2:
			more = p
		}
	}
	switch {
	case now == nil || more == nil:
		return ""
	case now.MissRatio-more.MissRatio <= max(more.Error, .0005):
		return "about the same"
	}
	return fmt.Sprintf("−%.1f points", 100*(now.MissRatio-more.MissRatio))
}

// finite is v, or 0 for what JSON has no word for.
func finite(v float64) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	return v
}
