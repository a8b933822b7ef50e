package index

import (
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/firncache/firn/internal/offheap"
)

// A walk meets every entry that is there all the time once, in rising order, whether the
// table grows or shrinks meanwhile.
func TestFromMeetsEachOnce(t *testing.T) {
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
				last, holds := uint64(0), 0
				for at, next := uint64(0), uint64(1); next != 0; at, holds = next, holds+1 {
					var found []Placed
					found, next = w.table.From(at)
					if holds%3 == 2 && len(found) > 1 { // part of a bucket
						next = found[len(found)/2].Position
						found = found[:len(found)/2]
					}
					for _, p := range found {
						if p.Position < last || next != 0 && p.Position >= next || p.Hash() != w.hashes[p.Location-1] {
							t.Fatalf("position %x of location %d, after %x, before %x", p.Position, p.Location, last, next)
						}
						last = p.Position
						met[p.Location]++
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

// However many entries there are, a part of a walk is one bucket's, and Clear and the use
// of a new overflow chunk empty few buckets.
func TestPartsAreSmall(t *testing.T) {
	t.Parallel()
	const shift = 17
	r, err := offheap.Reserve(8 << 20)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Release() })
	w, rng := &world{t: t, live: map[uint32]bool{}, chunks: 2}, rand.New(rand.NewPCG(7, 9))
	for i := range r.Bytes(0, 8<<20) { // so that an untouched bucket can be told from an empty one
		r.Bytes(uint64(i), 1)[0] = 0xaa
	}
	untouched := func(chunk uint32) (n int) {
		for at := 63; at < 1<<shift; at += 64 {
			if r.Bytes(uint64(chunk)<<shift, 1<<shift)[at] == 0xaa {
				n++
			}
		}
		return n
	}
	w.table.Init(Memory{Region: r, ChunkShift: shift}, 1, make([]atomic.Uint32, 32), w.hashAll)
	if n := untouched(1); n < 1900 {
		t.Errorf("%d of 2048 buckets were left alone when the table was made", n)
	}
	for range 5000 {
		w.insert(rng.Uint64())
	}
	overflow := w.table.overflowChunks()
	if len(overflow) != 1 || untouched(overflow[0]) < 1500 {
		t.Errorf("overflow chunks %v: want one of which most was left alone", overflow)
	}
	for at, next := uint64(0), uint64(1); next != 0; at = next {
		var found []Placed
		if found, next = w.table.From(at); len(found) > 4*Slots {
			t.Errorf("%d entries at once", len(found))
		}
	}
	w.table.Clear()
	clear(w.live)
	w.check()
	if n := w.table.Buckets(); n > 64 {
		t.Errorf("%d buckets after Clear", n)
	}
}
