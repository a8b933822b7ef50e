package sim

import (
	"math"
	"math/rand/v2"
	"sync"
)

// pattern is a generated sequence of requests of a known kind.
type pattern struct {
	name     string
	requests []int32
	keys     int
}

const (
	patternKeys   = 20_000
	patternLength = 200_000
)

// patterns are one workload for each kind that eviction has to get right.
var patterns = sync.OnceValue(makePatterns)

func makePatterns() []pattern {
	rng := rand.New(rand.NewPCG(11, 17))
	zipf := newZipf(rng, patternKeys, 0.9)
	generators := []struct {
		name string
		next func(i int) int
	}{
		{"zipf", func(int) int { return zipf() }},
		{"loop", func(i int) int { return i % (patternKeys / 4) }},
		{"zipf and scans", func(i int) int {
			if i/5000%2 == 0 {
				return zipf()
			}
			return patternKeys + i
		}},
		{"one-hit keys", func(i int) int {
			if i%2 == 0 {
				return zipf()
			}
			return patternKeys + i
		}},
		{"recency", func(i int) int { // the present, and the past of 2000 requests ago
			return max(0, i/2-i%2*1000)
		}},
		{"moving zipf", func(i int) int { return zipf() + i/20 }},
		{"loop and zipf", func(i int) int {
			if i%3 == 0 {
				return patternKeys + i/3%2000
			}
			return zipf()
		}},
		{"change of phase", func(i int) int {
			if i < patternLength/2 {
				return i % (patternKeys / 4)
			}
			return patternKeys + max(0, i/2-i%2*600)
		}},
	}
	var out []pattern
	for _, g := range generators {
		requests := make([]uint64, patternLength)
		for i := range requests {
			requests[i] = uint64(g.next(i))
		}
		dense, keys := number(requests)
		out = append(out, pattern{g.name, dense, keys})
	}
	return out
}

// number replaces keys by 0, 1, 2, … in the order of their first request.
func number(keys []uint64) (dense []int32, distinct int) {
	ids := make(map[uint64]int32)
	dense = make([]int32, len(keys))
	for i, key := range keys {
		id, ok := ids[key]
		if !ok {
			id = int32(len(ids))
			ids[key] = id
		}
		dense[i] = id
	}
	return dense, len(ids)
}

// newZipf draws 0..n-1 with probability proportional to 1/(rank+1)^s.
func newZipf(rng *rand.Rand, n int, s float64) func() int {
	cumulative := make([]float64, n)
	sum := 0.0
	for i := range cumulative {
		sum += math.Pow(float64(i+1), -s)
		cumulative[i] = sum
	}
	return func() int {
		u := rng.Float64() * sum
		lo, hi := 0, n-1
		for lo < hi {
			if mid := (lo + hi) / 2; cumulative[mid] < u {
				lo = mid + 1
			} else {
				hi = mid
			}
		}
		return lo
	}
}
