package plan

import (
	"math"
	"testing"
)

// The mass of the most popular is what summing term by term gives.
func TestMass(t *testing.T) {
	const all = 50_000
	for _, s := range []float64{.5, .99, 1, 1.3} {
		p, sum := Popularity{Zipf: s}, 0.
		sums := make([]float64, all+1)
		for k := range all {
			sum += math.Pow(float64(k+1), -s)
			sums[k+1] = sum
		}
		for _, n := range []int64{0, 1, 999, 1000, 1001, 20_000, all, 2 * all} {
			want := sums[min(n, all)] / sum
			if got := p.mass(n, all); math.Abs(got-want) > 1e-6 {
				t.Errorf("exponent %v: the first %d of %d have %v, want %v", s, n, all, got, want)
			}
		}
	}
	p := Popularity{Hot: .2, HotReads: .8}
	for n, want := range map[int64]float64{0: 0, 100: .4, 200: .8, 600: .9, 1000: 1, 2000: 1} {
		if got := p.mass(n, 1000); math.Abs(got-want) > 1e-12 {
			t.Errorf("hot: the first %d of 1000 have %v, want %v", n, got, want)
		}
	}
}
