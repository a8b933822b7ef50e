package curve

import (
	"strings"
	"time"

	"github.com/firncache/firn/internal/advice"
	"github.com/firncache/firn/stats"
)

// now is the index of the point of the present size, -1 if there is none.
func now(c *stats.SizeCurve) int {
	for i := range c.Points {
		if c.Points[i].Factor == 1 {
			return i
		}
	}
	return -1
}

func valid(p *stats.CurvePoint) bool { return p.State == stats.CurveValid }

func size(bytes int64) string { return advice.Size(bytes) }

// percents shows a share in percent, without the sign.
func percents(share float64) string { return strings.TrimSuffix(advice.Percent(share), " %") }

// misses are those of a point in percent, with their error: 38.2 ± 0.4. The error is rounded up.
func misses(p *stats.CurvePoint) string {
	return strings.TrimSuffix(advice.Misses(&advice.Point{MissRatio: p.MissRatio, Error: p.Error}), " %")
}

// rate shows a figure with three digits: 12.3 k.
func rate(x float64) string { return advice.Rate(x) }

// span shows how long something takes in one unit, or in two.
func span(d time.Duration) string {
	if d < 0 {
		return "-" + advice.Span(-d)
	}
	return advice.Span(d)
}
