package fleet

import (
	"testing"

	"github.com/firncache/firn/internal/local"
)

// A negative entry that the server keeps beyond its deadline is no answer of a load's.
func TestExpiredNegativeIsNoAnswer(t *testing.T) {
	t.Parallel()
	for now, want := range map[int64]local.State{99: local.Negative, 100: local.Miss} {
		var a Asked
		if a.is(&localCopy{state: local.Negative, deadline: -100}, now); a.State != want {
			t.Errorf("at %d the state is %d, want %d", now, a.State, want)
		}
	}
}
