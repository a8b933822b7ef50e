package whatif

import (
	"math/rand/v2"
	"sync"

	"github.com/firncache/firn/internal/workload"
)

// workloadOf is a sequence of requests for the keys 0 to keys-1.
type workloadOf struct {
	name     string
	requests []int32
	keys     int
}

const (
	popular  = 30_000  // keys of a generated workload that are asked for again and again
	requests = 250_000 // of a generated workload
)

// generated are one workload for each kind that a curve has to get right.
var generated = sync.OnceValue(func() (all []workloadOf) {
	zipf := workload.NewZipf(rand.NewPCG(3, 5), 0.9, popular)
	flat := workload.NewZipf(rand.NewPCG(3, 7), 0.6, popular)
	for _, g := range []struct {
		name string
		next func(i int) uint64
	}{
		{"zipf", func(int) uint64 { return zipf.Next() }},
		{"flat zipf", func(int) uint64 { return flat.Next() }},
		{"zipf and scans", func(i int) uint64 {
			if i/5000%2 == 0 {
				return zipf.Next()
			}
			return uint64(popular + i)
		}},
		{"loop and zipf", func(i int) uint64 {
			if i%3 == 0 {
				return uint64(popular + i/3%8000)
			}
			return zipf.Next()
		}},
		{"moving zipf", func(i int) uint64 { return zipf.Next() + uint64(i/20) }},
		{"working set shifts", func(i int) uint64 { return zipf.Next() + uint64(i/(requests/3)*popular) }},
	} {
		all = append(all, number(g.name, requests, g.next))
	}
	return all
})

// number gives the keys of requests numbers in the order of their first requests.
func number(name string, n int, next func(i int) uint64) workloadOf {
	w, numbers := workloadOf{name: name, requests: make([]int32, n)}, map[uint64]int32{}
	for i := range w.requests {
		key := next(i)
		k, ok := numbers[key]
		if !ok {
			k = int32(len(numbers))
			numbers[key] = k
		}
		w.requests[i] = k
	}
	w.keys = len(numbers)
	return w
}

// hashOf is the hash of a key, which is another one for each seed.
func hashOf(key int32, seed uint64) uint64 {
	return workload.Scramble(uint64(key)<<8 | seed&0xff)
}
