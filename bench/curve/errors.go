package curve

import (
	"math"
	"slices"
)

// EnoughKeys is how many keys of the sample stand behind a prediction that counts.
const EnoughKeys = 1000

// Counts reports whether there are enough keys behind a prediction.
func (c Cell) Counts() bool { return c.Keys >= EnoughKeys }

// A Group is cells that are summed up together.
type Group struct {
	Name    string
	Factors []float64
	Few     bool // those with fewer keys, in place of those that count
}

// Near are the factors that have to be right.
var Near = []float64{0.5, 2, 4}

// Groups are those of the factors that have to be right, together and one by one, of the others, and of
// predictions on few keys.
var Groups = []Group{
	{"near", Near, false}, {"half", []float64{0.5}, false}, {"twice", []float64{2}, false}, {"four", []float64{4}, false},
	{"far", []float64{0.25, 8}, false}, {"few", Near, true},
}

// Errors sums up how far off the cells of a group are, in points of the miss ratio.
type Errors struct {
	Cells           int
	Mean, P95, Most float64 // of what the predictions are off, without its sign
	Bias            float64 // the mean with it
	Within          float64 // truths within the error bars, in percent
}

// Errors sums up the group's cells.
func (g Group) Errors(cells []Cell) (e Errors) {
	var off []float64
	for _, c := range cells {
		if c.Counts() == g.Few || !slices.Contains(g.Factors, c.Factor) {
			continue
		}
		points := 100 * (c.Predicted - c.Real)
		off = append(off, math.Abs(points))
		e.Bias += points
		e.Mean += math.Abs(points)
		if math.Abs(points) <= 100*c.Bar {
			e.Within++
		}
	}
	if e.Cells = len(off); e.Cells == 0 {
		return e
	}
	n := float64(e.Cells)
	e.Bias, e.Mean, e.Within = e.Bias/n, e.Mean/n, 100*e.Within/n
	slices.Sort(off)
	e.P95, e.Most = off[int(math.Ceil(0.95*n))-1], off[len(off)-1]
	return e
}
