package policy

import (
	"sync"
	"sync/atomic"
	"testing"
)

func newRing(places int) *ring { return &ring{places: make([]atomic.Uint64, places)} }

// A full ring keeps what it has and is not written to. What was added comes out once, in
// order, and no more at a time than an insert has time for.
func TestRing(t *testing.T) {
	t.Parallel()
	for _, places := range []uint64{minShadow, drainMost, 180, maxShadow} {
		r, next := newRing(int(places)), uint64(0)
		for round := range uint64(3) {
			for i := range 2 * places {
				r.add(round*places + i)
			}
			if added := r.added.Load(); added != (round+1)*places {
				t.Fatalf("%d places: %d added by round %d", places, added, round)
			}
			for drained := uint64(1); drained > 0; {
				drained = 0
				r.drain(func(h uint64) {
					if h != next {
						t.Fatalf("%d places: drained %d, want %d", places, h, next)
					}
					next++
					drained++
				})
				if drained > drainMost {
					t.Fatalf("%d drained at once", drained)
				}
			}
			if next != (round+1)*places {
				t.Fatalf("%d places: drained %d by round %d", places, next, round)
			}
		}
	}
}

// While many add, the drainer gets what was added and no more of it: a hash, or the zero
// of a place that is not written yet.
func TestRingUnderConcurrentUse(t *testing.T) {
	t.Parallel()
	const goroutines, each = 8, 5000
	r, drained := newRing(100), uint64(0)
	var adders sync.WaitGroup
	for g := range uint64(goroutines) {
		adders.Go(func() {
			for i := range uint64(each) {
				r.add((g+1)<<32 | i)
			}
		})
	}
	done := make(chan struct{})
	go func() { adders.Wait(); close(done) }()
	drain := func() {
		r.drain(func(h uint64) {
			if drained++; h != 0 && (h>>32 > goroutines || h&0xffffffff >= each) {
				t.Errorf("%#x was never added", h)
			}
		})
	}
	for adding := true; adding; {
		select {
		case <-done:
			adding = false
		default:
		}
		drain()
	}
	for range 1 + (len(r.places)+goroutines)/drainMost {
		drain()
	}
	if added := r.added.Load(); drained != added || added == 0 || added > goroutines*each {
		t.Errorf("%d were drained of %d", drained, added)
	}
}
