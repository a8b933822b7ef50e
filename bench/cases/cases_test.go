package cases

import (
	"testing"
	"time"
)

// TestStudies: every variant runs, and those that are said to allocate, or not
// to, do so.
func TestStudies(t *testing.T) {
	allocs := map[string]float64{ // per operation
		"append-to-nil": 1, "make-with-capacity": 1, "make-and-copy": 1, "bytes.Clone": 1, "buffer-passed-in": 0,
		"assert-each-step": 0, "typed-field": 0, "value": 0, "pointer": 0, "sync.Pool-of-slices": 1, "sync.Pool-of-pointers": 0, "firn-bufpool": 0,
	}
	for _, s := range Studies {
		turns := s.Run(2, 2*time.Millisecond)
		if len(turns) != 2*len(s.Variants) || s.Claim == "" || s.Per == "" {
			t.Errorf("%s: %d turns of %d variants", s.Name, len(turns), len(s.Variants))
		}
		for _, turn := range turns {
			if turn.Ns <= 0 || turn.Ops < 1 {
				t.Errorf("%+v makes no sense", turn)
			}
			if want, ok := allocs[turn.Variant]; ok && (turn.Allocs < want-0.1 || turn.Allocs > want+0.1) {
				t.Errorf("%s %s: %.2f allocations; expected %v", s.Name, turn.Variant, turn.Allocs, want)
			}
		}
	}
}

// TestVariantsAgree: the ways to sum give the same sum.
func TestVariantsAgree(t *testing.T) {
	var sums []int
	for _, f := range []func(int){sumInterfaces, sumSlices, sumFlat} {
		sink = 0
		f(10 * elements)
		sums = append(sums, sink)
	}
	if sums[0] != sums[1] || sums[0] != sums[2] || sums[0] == 0 {
		t.Errorf("sums %v differ", sums)
	}
}
