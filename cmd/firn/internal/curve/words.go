package curve

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/firncache/firn"
)

// now is the index of the point of the present size, -1 if there is none.
func now(c *firn.SizeCurve) int {
	for i := range c.Points {
		if c.Points[i].Factor == 1 {
			return i
		}
	}
	return -1
}

func valid(p *firn.CurvePoint) bool { return p.State == firn.CurveValid }

func size(bytes int64) string { return humanize.IBytes(uint64(bytes)) }

// digits is how many digits behind the point a share needs in percent.
func digits(share float64) int {
	if share > 0 && share < .01 {
		return 2
	}
	return 1
}

// percents shows a share in percent, without the sign.
func percents(share float64) string { return strconv.FormatFloat(100*share, 'f', digits(share), 64) }

// misses are those of a point in percent, with their error: 38.2 ± 0.4. The error is rounded up.
func misses(p *firn.CurvePoint) string {
	n := digits(p.MissRatio)
	unit := math.Pow10(n)
	bound := math.Ceil(max(100*p.Error*unit-1e-9, 0)) / unit // 1e-9: of the product
	return percents(p.MissRatio) + " ± " + strconv.FormatFloat(bound, 'f', n, 64)
}

// rate shows a figure a second with three digits: 12.3 k.
func rate(x float64) string {
	scaled, prefix, n := x, "", 2
	if x >= 1 {
		scaled, prefix = humanize.ComputeSI(x)
		n = max(0, 2-int(math.Log10(scaled)))
	}
	return strings.TrimSpace(strconv.FormatFloat(scaled, 'f', n, 64) + " " + prefix)
}

// span shows how long something takes in one unit, or in two.
func span(d time.Duration) string {
	switch {
	case d < 0:
		return "-" + span(-d)
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return d.Round(100 * time.Millisecond).String()
	case d < time.Hour:
		d = d.Round(time.Second)
		return fmt.Sprintf("%dm%02ds", d/time.Minute, d%time.Minute/time.Second)
	case d < 48*time.Hour:
		d = d.Round(time.Minute)
		return fmt.Sprintf("%dh%02dm", d/time.Hour, d%time.Hour/time.Minute)
	case d < 1000*24*time.Hour:
		return fmt.Sprintf("%.0f d", d.Hours()/24)
	}
	return fmt.Sprintf("%.0f y", d.Hours()/24/365)
}
