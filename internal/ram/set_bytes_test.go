package ram

import (
	"fmt"
	"testing"
)

// A call of SetBytes holds from its return on, though what is in use fits without
// it and another call, which was to shrink to less, has yet to begin with that.
func TestSetBytesHoldsBeforeAnotherShrinks(t *testing.T) {
	t.Parallel()
	s := newStepped(t)
	used := s.Stats().Used
	if shrinks, err := s.setBytes(1 << 20); err != nil || !shrinks {
		t.Fatal(shrinks, err)
	}
	budget := used + 16<<10
	if err := s.SetBytes(budget); err != nil {
		t.Fatal(err)
	}
	for i := range 200 {
		s.add(fmt.Sprintf("more-%05d", i), 0)
	}
	if st := s.Stats(); st.Budget != budget || st.Used > budget {
		t.Errorf("%d bytes are in use of %d", st.Used, budget)
	}
	s.shrink(false)
	if err := s.Check(); err != nil {
		t.Error(err)
	}
}
