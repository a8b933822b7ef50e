package ssd

import (
	"testing"

	"github.com/firncache/firn/internal/vfs/vfstest"
)

// A record that is refused for the write budget is counted there first:
// a snapshot in between counts no refused ones less than none.
func TestRefusedIsNotBelowNone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	if err := w.open(testConfig(vfstest.NewMem(), w)); err != nil {
		t.Fatal(err)
	}
	defer w.close(t)
	w.tier.admission.budget.refused.Add(1)
	if s := w.tier.Stats(); s.Refused != 0 || s.Limited != 1 {
		t.Errorf("%d refused, %d limited: want 0 and 1", s.Refused, s.Limited)
	}
}
