package workload

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Zipf draws ranks with P(rank k) proportional to 1/(k+1)^skew, exactly, for any
// skew above 0: below, at and above 1 alike.
//
// The method is rejection-inversion (W. Hörmann, G. Derflinger: Rejection-
// inversion to generate variates from monotone discrete distributions, ACM
// TOMACS 6, 1996). It needs no table, and about one draw in ten is repeated.
type Zipf struct {
	rng  *rand.Rand
	skew float64
	n    float64

	// The integral of the hat function x^-skew at both ends of the range, and
	// the distance below which a draw is accepted without another look.
	hFirst, hLast, sure float64
}

// NewZipf returns a generator of ranks in [0, n), driven by src.
// It panics unless n > 0 and skew > 0.
func NewZipf(src rand.Source, skew float64, n uint64) *Zipf {
	if n == 0 || !(skew > 0) || math.IsInf(skew, 1) {
		panic(fmt.Sprintf("workload: NewZipf: skew %v, n %d: both must be positive and finite", skew, n))
	}
	z := &Zipf{rng: rand.New(src), skew: skew, n: float64(n)}
	z.hFirst = z.integral(1.5) - 1
	z.hLast = z.integral(z.n + 0.5)
	z.sure = 2 - z.inverse(z.integral(2.5)-z.hat(2))
	return z
}

// Next returns the next rank; 0 is the most popular.
func (z *Zipf) Next() uint64 {
	for {
		u := z.hLast + z.rng.Float64()*(z.hFirst-z.hLast)
		x := z.inverse(u)
		k := min(max(math.Floor(x+0.5), 1), z.n)
		if k-x <= z.sure || u >= z.integral(k+0.5)-z.hat(k) {
			return uint64(k) - 1
		}
	}
}

// hat is the unnormalized probability of rank x, counted from 1.
func (z *Zipf) hat(x float64) float64 { return math.Exp(-z.skew * math.Log(x)) }

// integral is the integral of hat from 1 to x: (x^(1-skew) - 1) / (1-skew),
// which tends to log x where skew is 1.
func (z *Zipf) integral(x float64) float64 {
	logX := math.Log(x)
	return expm1Ratio((1-z.skew)*logX) * logX
}

// inverse is the inverse function of integral.
func (z *Zipf) inverse(y float64) float64 {
	t := max(y*(1-z.skew), -1)
	return math.Exp(log1pRatio(t) * y)
}

// expm1Ratio is (e^x - 1) / x, continued through 0.
func expm1Ratio(x float64) float64 {
	if math.Abs(x) > 1e-8 {
		return math.Expm1(x) / x
	}
	return 1 + x/2*(1+x/3)
}

// log1pRatio is log(1+x) / x, continued through 0.
func log1pRatio(x float64) float64 {
	if math.Abs(x) > 1e-8 {
		return math.Log1p(x) / x
	}
	return 1 - x*(0.5-x/3)
}
