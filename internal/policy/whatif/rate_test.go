package whatif

import (
	"math/rand/v2"
	"testing"
)

// A sample has its share of the keys, is a part of larger ones, and its mask leaves none out.
func TestRates(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	larger := newRate(1)
	for _, share := range []float64{1, 0.9, 0.5, 0.3, 0.25, 0.1, 1.0 / 64, 0.01, 0.001} {
		r, n := newRate(share), 0
		const keys = 200_000
		for range keys {
			hash := rng.Uint64()
			if !r.has(hash) {
				continue
			}
			n++
			if (hash^hash>>32)&r.mask() != 0 {
				t.Fatalf("%g: the mask leaves out %#x, which is in the sample", share, hash)
			}
			if !larger.has(hash) {
				t.Fatalf("%g: %#x is in the sample, and not in a larger one", share, hash)
			}
		}
		if want := share * keys; float64(n) < want*0.8 || float64(n) > want*1.2 {
			t.Errorf("%g: %d of %d keys are in the sample, want about %.0f", share, n, keys, want)
		}
		larger = r
	}
	if r := newRate(1); !r.has(0) || r.mask() != 0 {
		t.Error("the sample of all keys leaves some out")
	}
}
