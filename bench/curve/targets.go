package curve

import (
	"math"
	"slices"
)

// Targets sums up points of one load, or of some. Errors are in points of the miss ratio, shares in
// percent.
type Targets struct {
	Points      int     // that are valid
	Within      float64 // share of the truths within ±
	Mean        float64 // of what the points are off, without its sign
	P95, Most   float64
	Bar         float64 // the median ±
	Valid       float64 // share of all
	ValidLate   float64 // of those after lateRequests
	Gains       int     // of twice the size that are more than ± beyond the truth
	WholeWithin float64 // as Within, against all requests
	WholeMean   float64 // as Mean, against all requests
}

// lateRequests is after how many requests a point should be valid.
const lateRequests = 1_000_000

// Sum sums points up.
func Sum(all []Point) (t Targets) {
	var off, bars []float64
	late, lateValid := 0, 0
	for _, p := range all {
		if p.At >= lateRequests {
			late++
		}
		if !p.Valid {
			continue
		}
		if p.At >= lateRequests {
			lateValid++
		}
		off, bars = append(off, 100*math.Abs(p.Predicted-p.Real)), append(bars, 100*p.Bar)
		t.Within += share(math.Abs(p.Predicted-p.Real) <= p.Bar)
		t.WholeWithin += share(math.Abs(p.Predicted-p.Whole) <= p.Bar)
		t.Mean += 100 * math.Abs(p.Predicted-p.Real)
		t.WholeMean += 100 * math.Abs(p.Predicted-p.Whole)
		if p.Factor == 2 && p.Real-p.Predicted > p.Bar {
			t.Gains++
		}
	}
	if t.Points = len(off); t.Points == 0 {
		return t
	}
	n := float64(t.Points)
	t.Within, t.WholeWithin, t.Mean, t.WholeMean = t.Within/n, t.WholeWithin/n, t.Mean/n, t.WholeMean/n
	slices.Sort(off)
	slices.Sort(bars)
	t.P95, t.Most, t.Bar = off[int(math.Ceil(0.95*n))-1], off[len(off)-1], bars[len(bars)/2]
	t.Valid = 100 * n / float64(len(all))
	if late > 0 {
		t.ValidLate = 100 * float64(lateValid) / float64(late)
	}
	return t
}

// share is a point's part of 100 %.
func share(counts bool) float64 {
	if counts {
		return 100
	}
	return 0
}
