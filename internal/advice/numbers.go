package advice

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// Size shows bytes with three digits and a unit: 128 MiB, 1.5 GiB.
func Size(bytes int64) string {
	x, unit := float64(bytes), 0
	for x >= 1023.5 && unit < len(units)-1 {
		x, unit = x/1024, unit+1
	}
	if unit > 0 && x < 9.95 {
		return fmt.Sprintf("%.1f %s", x, units[unit])
	}
	return fmt.Sprintf("%.0f %s", x, units[unit])
}

var units = [...]string{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}

// times is a factor as the beginning of a sentence.
func times(factor float64) string {
	if factor == 2 {
		return "Twice"
	}
	return strconv.FormatFloat(factor, 'g', 3, 64) + " times"
}

// Percent shows a share: 35.6 %.
func Percent(share float64) string { return percent(share, digits(share)) + " %" }

func percent(share float64, digits int) string {
	return strconv.FormatFloat(100*share, 'f', digits, 64)
}

// digits is how many digits behind the point a share has in percent.
func digits(share float64) int {
	if share > 0 && share < .01 {
		return 2
	}
	return 1
}

// Misses is the miss ratio of a point with its error, which is rounded up: 38.2 ± 0.4 %.
func Misses(p *Point) string {
	n := digits(p.MissRatio)
	unit := math.Pow10(n)
	bound := math.Ceil(max(100*p.Error*unit-1e-9, 0)) / unit // 1e-9: of the product
	return percent(p.MissRatio, n) + " ± " + strconv.FormatFloat(bound, 'f', n, 64) + " %"
}

// Rate shows a figure a second with three digits: 12.3 k.
func Rate(x float64) string {
	prefixes := [...]string{"", " k", " M", " G"}
	i := 0
	for x >= 999.5 && i < len(prefixes)-1 {
		x, i = x/1000, i+1
	}
	digits := 2
	if x >= 1 {
		digits = max(0, 2-int(math.Log10(x)))
	}
	return strconv.FormatFloat(x, 'f', digits, 64) + prefixes[i]
}

// Span shows how long something takes, in one unit or in two: 4h05m.
func Span(d time.Duration) string {
	switch {
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
