package firn

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

var curveFactors = []float64{.25, .5, 1, 2, 4, 8}

// curveOf has the miss ratios of the usual sizes, all with one error; a negative one is not valid.
func curveOf(err float64, ratios ...float64) (points []CurvePoint) {
	for i, r := range ratios {
		p := CurvePoint{Factor: curveFactors[i], MissRatio: r, Error: err}
		if r < 0 {
			p = CurvePoint{Factor: curveFactors[i], State: CurveFilling}
		}
		points = append(points, p)
	}
	return points
}

func TestKnee(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		points []CurvePoint
		want   int
	}{
		{"no points", nil, -1},
		{"nothing valid", curveOf(.01, -1, -1, -1, -1, -1, -1), -1},
		{"the present not valid", curveOf(.01, .5, .5, -1, -1, -1, -1), -1},
		{"flat: a quarter would do", curveOf(.01, .5, .5, .5, .5, .5, .5), 0},
		{"flat, as far as is known", curveOf(.01, .5, .5, .5, -1, -1, -1), 0},
		{"bends at twice the size", curveOf(.01, .8, .6, .4, .2, .19, .185), 3},
		{"bends at half", curveOf(.01, .8, .4, .39, .385, .38, .38), 1},
		{"falls to the end", curveOf(.01, .8, .6, .45, .33, .25, .18), -1},
		{"falls to the end of what is valid", curveOf(.01, .8, .6, .45, .33, -1, -1), -1},
		{"falls to nothing", curveOf(.01, .8, .6, .45, .33, .25, .005), 5},
		{"a loop that fits at once", curveOf(.01, 1, 1, 1, 1, .02, .02), 4},
		{"eight times the memory for a fifth of the misses", curveOf(.01, .8, .6, .5, .5, .5, .4), 2},
		{"steps smaller than their error", curveOf(.2, .6, .5, .45, .4, .36, .33), -1},
		{"a step smaller than its error, after one that is larger", curveOf(.04, .3, .24, .195, .154, .109, -1), -1},
		{"next to no misses, less than their error", curveOf(.01, .8, .6, .009, .008, .006, .004), 2},
		{"steps smaller than their error, all together larger", curveOf(.06, .9, .75, .62, .56, .56, .56), 2},
		{"no misses", curveOf(0, 0, 0, 0, 0, 0, 0), 0},
		{"a hole", curveOf(.01, .8, -1, .4, .2, -1, .19), 3},
	} {
		if got := knee(test.points); got != test.want {
			t.Errorf("%s: got %d, want %d", test.name, got, test.want)
		}
	}
}

// drawCurve draws points of the usual sizes: falling or not, with errors or without, some not valid.
func drawCurve(t *rapid.T, errors bool) (points []CurvePoint) {
	for _, f := range curveFactors {
		p := CurvePoint{Factor: f, State: rapid.SampledFrom([]CurveState{0, 0, 0, 0, CurveFilling, CurveFewKeys}).Draw(t, "state")}
		if p.State == CurveValid {
			p.MissRatio = rapid.Float64Range(0, 1).Draw(t, "miss ratio")
		}
		if errors && p.State == CurveValid {
			p.Error = rapid.Float64Range(0, .2).Draw(t, "error")
		}
		points = append(points, p)
	}
	return points
}

// The knee is a valid point from which none of the larger ones is worth its memory, and, if there
// are no errors, none of the smaller ones would do: its misses × memory^0.15 are the fewest.
func TestKneeIsBest(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		errors := rapid.Bool().Draw(t, "errors")
		points := drawCurve(t, errors)
		k := knee(points)
		if k < 0 {
			return
		}
		at := points[k]
		if at.State != CurveValid {
			t.Fatalf("the knee is %v", at.State)
		}
		for i, p := range points {
			better := p.State == CurveValid && cost(p) < cost(at)*(1-1e-9)
			if better && (i < k && !errors || i > k && at.MissRatio-p.MissRatio > at.Error+p.Error) {
				t.Fatalf("the knee is at %v, and %v is better", at, p)
			}
		}
	})
}

// cost is the misses times what they may cost in memory.
func cost(p CurvePoint) float64 {
	return p.MissRatio * math.Pow(p.Factor, -math.Log2(1-worthwhile))
}

// Only valid points count, and only how their misses relate to each other.
func TestKneeOfTheSame(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		points := drawCurve(t, true)
		other := slices.Clone(points)
		scale := rapid.SampledFrom([]float64{1, .5, 1. / 64}).Draw(t, "scale")
		for i := range other {
			p := &other[i]
			p.MissRatio, p.Error = scale*p.MissRatio, scale*p.Error
			if p.State != CurveValid {
				p.MissRatio = rapid.Float64Range(0, 1).Draw(t, "no miss ratio")
			}
		}
		if a, b := knee(points), knee(other); a != b {
			t.Fatalf("%d and %d: %v, %v", a, b, points, other)
		}
	})
}

// Less error never makes the knee smaller: what was in doubt is a step, or is none.
func TestKneeWithLessError(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		points := drawCurve(t, true)
		sure := slices.Clone(points)
		for i := range sure {
			sure[i].Error *= rapid.Float64Range(0, 1).Draw(t, "part")
		}
		if a, b := knee(points), knee(sure); b >= 0 && a > b && points[a].MissRatio > points[a].Error {
			t.Fatalf("%d, and with less error %d: %v, %v", a, b, points, sure)
		}
	})
}
