package sim

import (
	"math/rand/v2"
	"testing"

	"github.com/firncache/firn/internal/policy/policytest"
)

// newSmall is a cache of few and large records, whose bookkeeping weighs nothing.
func newSmall(keys, records int) *policytest.Tier {
	const size = 1 << 16
	return policytest.NewTier(keys, int64(records)*size, func(int32) int64 { return size })
}

// pair is a key that was not requested before, the i-th, and one that was not so long
// ago: a part of a cache of so many records.
func pair(i, records int, part float64) []int32 {
	return []int32{int32(i), int32(max(0, i-int(part*float64(records))))}
}

// Small caches adapt, too, though the reads of few of their keys are reported at once.
// No setting is good for both of these: pairs want new records to stay, and keys that are
// used once would push out a hot set almost as large as the cache.
func TestSmallCachesAdapt(t *testing.T) {
	t.Parallel()
	for _, records := range []int{25, 50, 200} {
		rng, n := rand.New(rand.NewPCG(3, 3)), 200*records
		var pairs, scan []int32
		for i := range n {
			pairs = append(pairs, pair(i, records, 0.3)...)
			scan = append(scan, int32(n+rng.IntN(records*8/10)), int32(n+records+i))
		}
		f := newSmall(n+records+n, records)
		for _, c := range []struct {
			name     string
			requests []int32
		}{{"pairs", pairs}, {"hot set and scan", scan}} {
			Misses(f, c.requests[:n]) // to learn
			if hits := 1 - float64(Misses(f, c.requests[n:]))/float64(n); hits < 0.48 {
				t.Errorf("%d records, %s: %.3f hits: want 0.48 of the 0.5 that there are", records, c.name, hits)
			}
		}
	}
}

// Mixtures of pairs and of hot sets of different sizes. One fixed setting for all of them
// gets 0.61 at best; with all reads reported at once it is 0.65, and with no reads but
// those of one key in 16 0.60.
func TestSmallCachesOnMixtures(t *testing.T) {
	t.Parallel()
	for _, records := range []int{50, 100} {
		sum, mixtures := 0.0, 0
		for _, reads := range []int{2, 4, 8} { // of the hot set, to a pair
			for _, size := range []float64{0.5, 0.8, 1.2} {
				for _, part := range []float64{0.1, 0.3} {
					rng, n, hot := rand.New(rand.NewPCG(3, 3)), 50*records, int(size*float64(records))
					var requests []int32
					for i := range n {
						requests = append(requests, pair(i, records, part)...)
						for range reads {
							requests = append(requests, int32(n+rng.IntN(hot)))
						}
					}
					misses := Misses(newSmall(n+hot, records), requests)
					sum += 1 - float64(misses)/float64(len(requests))
					mixtures++
				}
			}
		}
		if hits := sum / float64(mixtures); hits < 0.64 {
			t.Errorf("%d records: %.3f hits: want 0.64", records, hits)
		}
	}
}
