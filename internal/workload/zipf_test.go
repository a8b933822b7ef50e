package workload

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// Draws follow the exact probabilities: a chi-squared test whose limit a right
// generator passes for this seed, and one with a skew off by 2 % does not.
func TestZipfIsExact(t *testing.T) {
	t.Parallel()
	const n, draws = 50, 500_000
	for _, skew := range []float64{0.5, 0.99, 1, 1.0000000001, 1.2, 3} {
		if x := chiSquared(skew, skew, n, draws); x > 85 { // 49 degrees of freedom: exceeded once in 1,000
			t.Errorf("skew %v: chi-squared %.1f", skew, x)
		}
		if x := chiSquared(skew, skew*1.02, n, draws); x < 85 {
			t.Errorf("skew %v: chi-squared %.1f does not see an error of 2 %%", skew, x)
		}
	}
}

// chiSquared compares draws of one skew with the probabilities of another.
func chiSquared(drawn, expected float64, n, draws int) float64 {
	z := NewZipf(rand.NewPCG(1, 2), drawn, uint64(n))
	counts := make([]float64, n)
	for range draws {
		counts[z.Next()]++
	}
	sum := 0.0
	for k := range n {
		sum += math.Pow(float64(k+1), -expected)
	}
	chi := 0.0
	for k := range n {
		want := float64(draws) * math.Pow(float64(k+1), -expected) / sum
		chi += (counts[k] - want) * (counts[k] - want) / want
	}
	return chi
}

func TestZipfRange(t *testing.T) {
	for _, n := range []uint64{1, 2, 1 << 40} {
		z := NewZipf(rand.NewPCG(1, 2), 0.99, n)
		for range 10_000 {
			if k := z.Next(); k >= n {
				t.Fatalf("rank %d of %d", k, n)
			}
		}
	}
}

func TestZipfBadArguments(t *testing.T) {
	for _, bad := range []struct {
		skew float64
		n    uint64
	}{{0, 1}, {-1, 1}, {math.NaN(), 1}, {math.Inf(1), 1}, {1, 0}} {
		t.Run(fmt.Sprint(bad), func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			NewZipf(rand.NewPCG(1, 2), bad.skew, bad.n)
		})
	}
}

func BenchmarkZipf(b *testing.B) {
	z := NewZipf(rand.NewPCG(1, 2), 0.99, 1e7)
	for b.Loop() {
		z.Next()
	}
}
