package whatif

import (
	"math"
	"math/rand/v2"
	"sync"

	"github.com/firncache/firn/internal/workload"
)

// workloadOf is a sequence of requests for the keys 0 to keys-1.
type workloadOf struct {
	name     string
	requests []int32
	keys     int
	size     func(key int32) int64
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
		size func(key uint64) int64
	}{
		{"zipf", func(int) uint64 { return zipf.Next() }, alike},
		{"flat zipf", func(int) uint64 { return flat.Next() }, alike},
		{"zipf and scans", func(i int) uint64 {
			if i/5000%2 == 0 {
				return zipf.Next()
			}
			return uint64(popular + i)
		}, alike},
		{"loop and zipf", func(i int) uint64 {
			if i%3 == 0 {
				return uint64(popular + i/3%8000)
			}
			return zipf.Next()
		}, alike},
		{"moving zipf", func(i int) uint64 { return zipf.Next() + uint64(i/20) }, alike},
		{"working set shifts", func(i int) uint64 { return zipf.Next() + uint64(i/(requests/3)*popular) }, alike},
		{"heavy records", func(int) uint64 { return zipf.Next() }, heavy},
		{"small hot records", func(int) uint64 { return zipf.Next() }, func(key uint64) int64 { return 50 + int64(key/5) }},
	} {
		all = append(all, number(g.name, requests, g.next, g.size))
	}
	return all
})

// number gives the keys of requests numbers in the order of their first requests.
func number(name string, n int, next func(i int) uint64, size func(key uint64) int64) workloadOf {
	w, numbers, sizes := workloadOf{name: name, requests: make([]int32, n)}, map[uint64]int32{}, []int64{}
	for i := range w.requests {
		key := next(i)
		k, ok := numbers[key]
		if !ok {
			k = int32(len(numbers))
			numbers[key] = k
			sizes = append(sizes, size(key))
		}
		w.requests[i] = k
	}
	w.keys = len(numbers)
	w.size = func(key int32) int64 { return sizes[min(int(key), len(sizes)-1)] }
	return w
}

// hashOf is the hash of a key, which is another one for each seed.
func hashOf(key int32, seed uint64) uint64 {
	return workload.Scramble(uint64(key)<<8 | seed&0xff)
}

// alike are the sizes of records of 1 KiB.
func alike(uint64) int64 { return 1024 }

// heavy are sizes of which a few make most of the bytes.
func heavy(key uint64) int64 {
	u := float64(workload.Scramble(key+1)>>11) / (1 << 53)
	return int64(min(64*math.Pow(1-u, -1/1.1), 1<<18))
}
