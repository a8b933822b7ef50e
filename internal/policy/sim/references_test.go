package sim

import (
	"slices"
	"testing"
)

// Facts that hold for any policy: the optimum bounds it, a key is missed once
// at least, and a cache as large as the keys misses nothing twice.
func TestReferencesAreCaches(t *testing.T) {
	t.Parallel()
	for _, p := range patterns() {
		const capacity = 1000
		p.requests = p.requests[:40_000]
		distinct := 1 + slices.Max(p.requests)
		optimum := Belady(p.requests, p.keys, capacity)
		for _, r := range References {
			if misses := Misses(r.New(p.keys, capacity), p.requests); misses < optimum || misses < int(distinct) {
				t.Errorf("%s on %s: %d misses, the optimum is %d and there are %d keys", r.Name, p.name, misses, optimum, distinct)
			}
		}
	}
}

func TestLargeCachesMissOnce(t *testing.T) {
	t.Parallel()
	p := patterns()[0]
	for _, r := range References {
		if misses := Misses(r.New(p.keys, 2*p.keys), p.requests); misses != p.keys {
			t.Errorf("%s: %d misses of %d keys in twice the space", r.Name, misses, p.keys)
		}
	}
	if misses := Belady(p.requests, p.keys, p.keys); misses != p.keys {
		t.Errorf("Belady: %d misses of %d keys", misses, p.keys)
	}
}

// Sequences worked out by hand.
func TestByHand(t *testing.T) {
	for _, c := range []struct {
		name     string
		new      New
		capacity int
		requests []int32
		hits     []int // positions
	}{
		{"LRU", NewLRU, 2, []int32{0, 1, 0, 2, 0, 1}, []int{2, 4}},
		{"FIFO", NewFIFO, 2, []int32{0, 1, 0, 2, 0, 1}, []int{2}},
		{"Clock", NewClock, 2, []int32{0, 1, 0, 2, 0, 1}, []int{2, 4}},
		{"SIEVE", NewSIEVE, 3, []int32{0, 1, 2, 0, 3, 0, 1, 2}, []int{3, 5}},
		{"ARC", NewARC, 2, []int32{0, 0, 1, 2, 0, 3, 0}, []int{1, 4, 6}},
		{"CAR", NewCAR, 2, []int32{0, 0, 1, 2, 0, 3, 0}, []int{1, 4, 6}},
		{"S3-FIFO", NewS3FIFO, 10, []int32{0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0, 1}, []int{1, 2, 15}},
	} {
		cache := c.new(20, c.capacity)
		var hits []int
		for i, key := range c.requests {
			if cache.Access(key) {
				hits = append(hits, i)
			}
		}
		if !slices.Equal(hits, c.hits) {
			t.Errorf("%s: hits at %v, want %v", c.name, hits, c.hits)
		}
	}
	if misses := Belady([]int32{0, 1, 2, 0, 1, 3, 0, 1}, 4, 2); misses != 6 {
		t.Errorf("Belady: %d misses, want 6", misses)
	}
}

// What each policy is known for.
func TestLoops(t *testing.T) {
	t.Parallel()
	p := patterns()[1] // a loop over 5000 keys
	ratio := func(newCache New) float64 {
		return float64(Misses(newCache(p.keys, 2000), p.requests)) / float64(len(p.requests))
	}
	if r := ratio(NewLRU); r != 1 {
		t.Errorf("LRU misses %.3f of a loop larger than it, want all", r)
	}
	for _, c := range []struct {
		name string
		new  New
	}{{"LIRS", NewLIRS}, {"W-TinyLFU", NewWTinyLFU}} {
		if r := ratio(c.new); r > 0.65 {
			t.Errorf("%s misses %.3f of a loop, want about 0.6", c.name, r)
		}
	}
}
