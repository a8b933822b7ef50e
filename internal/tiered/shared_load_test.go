package tiered

import "testing"

// A negative entry that the server keeps beyond its deadline is no answer of a load's.
func TestExpiredNegativeIsNoAnswer(t *testing.T) {
	t.Parallel()
	for now, want := range map[int64]State{99: Negative, 100: Miss} {
		var a Asked
		if a.is(&sharedCopy{state: Negative, deadline: -100}, now); a.State != want {
			t.Errorf("at %d the state is %d, want %d", now, a.State, want)
		}
	}
}
