package firn

import "math"

// worthwhile is the share of the misses that twice the memory has to remove to be worth it.
const worthwhile = 0.1

// knee is the index of the point beyond which memory brings little: of the smallest valid size
// from which no larger valid one removes a tenth of the misses with each doubling. (Of misses ×
// memory^0.15 it is the minimum, but for the error bars.) It is one of the points, and no curve is
// fitted, as Satopaa et al., "Finding a 'Kneedle' in a Haystack" (2011), do: theirs depends on
// which sizes there are, and finds a knee in a curve that is nearly flat, or falls to its end.
//
// It is -1 if not known: if the present size is not valid, the curve still falls at the largest
// valid size, or falls by as much from the size that it would be, but by no more than the error.
func knee(points []CurvePoint) int {
	last, present := -1, false
	for i := range points {
		if points[i].State == CurveValid {
			last, present = i, present || points[i].Factor == 1
		}
	}
	if !present {
		return -1
	}
	for i := range points[:last] {
		switch {
		case points[i].State != CurveValid || growthPays(points[i:], 1):
		case points[i].MissRatio > points[i].Error && growthPays(points[i:], 0):
			return -1
		default:
			return i
		}
	}
	if points[last].MissRatio <= points[last].Error {
		return last // no misses are left
	}
	return -1
}

// growthPays reports whether memory for a larger one of the points would be well spent, coming
// from the first, where a difference counts above so many times its error.
func growthPays(points []CurvePoint, errors float64) bool {
	from := &points[0]
	for i := range points[1:] {
		to := &points[i+1]
		doublings := math.Log2(to.Factor / from.Factor)
		if to.State == CurveValid && to.MissRatio <= from.MissRatio*math.Pow(1-worthwhile, doublings) &&
			from.MissRatio-to.MissRatio > errors*math.Hypot(from.Error, to.Error) {
			return true
		}
	}
	return false
}
