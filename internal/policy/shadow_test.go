package policy

import (
	"math/rand/v2"
	"testing"
)

// A shadow's lists stay whole whatever it is asked.
func TestShadowStaysWhole(t *testing.T) {
	const size = 64
	for _, setting := range settings {
		s, rng := newShadow(setting, size), rand.New(rand.NewPCG(3, 3))
		for i := range 50_000 {
			s.access(rng.Uint64N(200)*0x9E3779B97F4A7C15, 1+int(rng.Uint64N(size)), i%5000 < 50)
			if i%1000 == 0 {
				s.filter(func(h uint64) bool { return h&1 == 0 })
			}
			if i%100 == 0 {
				checkShadow(t, s, size)
			}
		}
	}
}

func checkShadow(t *testing.T, s *shadow, size int) {
	t.Helper()
	free, chained, queued := 0, 0, 0
	for i := s.free; i != 0; i = s.slots[i].next {
		free++
	}
	for _, i := range s.index {
		for ; i != 0; i = s.slots[i].chain {
			chained++
		}
	}
	for _, l := range s.lanes {
		for i, n := l.oldest, l.count; n > 0; i, n = s.slots[i].next, n-1 {
			queued++
		}
	}
	if chained != queued || queued != s.count() || free+queued != size {
		t.Fatalf("%d free, %d in chains, %d in lanes, %d counted, of %d", free, chained, queued, s.count(), size)
	}
}

func TestShadowKeepsWhatFilterKeeps(t *testing.T) {
	const size = 64
	s, keys := newShadow(settings[0], size), hashes(size, 1)
	for _, h := range keys {
		s.access(h, size, true)
	}
	s.filter(func(h uint64) bool { return h&1 == 0 })
	for _, h := range keys {
		if hit := s.access(h, size, true); hit != (h&1 == 0) {
			t.Errorf("after a filter for even hashes, %#x: hit = %v", h, hit)
		}
	}
}
