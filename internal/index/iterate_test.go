package index

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// A walk over the numbers of buckets meets every entry that is there all the time
// once, whether the table grows, shrinks or is cleared meanwhile.
func TestUnderMeetsEachOnce(t *testing.T) {
	t.Parallel()
	change := map[string]func(w *world, rng *rand.Rand, stays map[uint32]bool){
		"grows":   func(w *world, rng *rand.Rand, _ map[uint32]bool) { w.insert(rng.Uint64()) },
		"shrinks": shrink,
		"both": func(w *world, rng *rand.Rand, stays map[uint32]bool) {
			if w.table.Buckets() < 200 {
				w.insert(rng.Uint64())
			} else {
				shrink(w, rng, stays)
			}
		},
	}
	for name, change := range change {
		for seed := range uint64(10) {
			t.Run(fmt.Sprintf("%s/%d", name, seed), func(t *testing.T) {
				w, rng := newWorld(t, 4<<20), rand.New(rand.NewPCG(seed, 1))
				stays, met := map[uint32]bool{}, map[uint32]int{}
				for i := range 4000 {
					loc := w.insert(rng.Uint64())
					if i%40 == 0 {
						stays[loc] = true
					}
				}
				buckets := w.table.Buckets()
				for j := range buckets {
					for loc := range w.table.Under(j, buckets) {
						met[loc]++
					}
					for range rng.IntN(20) {
						change(w, rng, stays)
					}
				}
				for loc, n := range met {
					if n > 1 {
						t.Errorf("location %d was met %d times", loc, n)
					}
				}
				for loc := range stays {
					if met[loc] != 1 {
						t.Errorf("location %d was met %d times: want once", loc, met[loc])
					}
				}
				w.check()
				if name == "shrinks" && w.table.Buckets() > buckets/10 {
					t.Errorf("of %d buckets %d are left", buckets, w.table.Buckets())
				}
			})
		}
	}
}

// shrink removes an entry that is not to stay.
func shrink(w *world, _ *rand.Rand, stays map[uint32]bool) {
	for loc := range w.live {
		if !stays[loc] {
			w.remove(loc)
			return
		}
	}
}
