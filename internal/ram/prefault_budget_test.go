package ram

import (
	"fmt"
	"testing"
)

// In a cache that has shrunk and grown again, no segments are made ready beyond
// the budget: those whose memory was given back are used first, and take their own.
func TestPrefaultAfterShrinkKeepsTheBudget(t *testing.T) {
	t.Parallel()
	tier := newTier(t, 2<<20)
	fill := func() {
		for i := range 600 {
			if err := tier.setKey(fmt.Appendf(nil, "key-%04d", i), make([]byte, 4000), 0); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, budget := range []int64{2 << 20, 1 << 20, 3 << 19} {
		if err := tier.SetBytes(budget); err != nil {
			t.Fatal(err)
		}
		for tier.prefaultNext() {
		}
		fill()
		if st := tier.Stats(); st.Resident > st.Budget {
			t.Errorf("%d bytes are resident of %d", st.Resident, st.Budget)
		}
	}
}
