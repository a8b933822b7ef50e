package streams

import (
	"slices"
	"testing"
	"time"
)

// TestRun: every pool reads streams from every source, in every round.
func TestRun(t *testing.T) {
	for _, source := range Sources() {
		cells := 0
		err := Run(source, Options{Rounds: 2, Turn: time.Microsecond, Warm: 1}, func(turns []Turn) {
			cells++
			var pools []string
			for _, turn := range turns {
				if turn.Ns <= 0 || turn.Streams < 1 || turn.Round > 1 {
					t.Errorf("%+v makes no sense", turn)
				}
				if turn.Round == 0 {
					pools = append(pools, turn.Pool)
				}
			}
			slices.Sort(pools)
			if len(turns) != 2*len(rivals) || len(slices.Compact(pools)) != len(rivals) {
				t.Errorf("%s: %d turns of %d pools; expected two of each of %d", source, len(turns), len(pools), len(rivals))
			}
		})
		if err != nil || cells != Cells() {
			t.Errorf("%s: %d cells, %v; expected %d", source, cells, err, Cells())
		}
	}
}
