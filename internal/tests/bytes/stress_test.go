package bytes

import (
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/invariants"
	"github.com/firncache/firn/internal/tests/harness"
)

func newStress(t testing.TB, bytes int64, keys int) *harness.Stress {
	c, err := firn.Open(firn.Options{RAMBytes: bytes, MaxRAMBytes: 4 * bytes})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return &harness.Stress{C: c, Bytes: bytes, Registers: harness.NewRegisters(keys)}
}

// Readers see whole values that are not older than the last acknowledged
// write, whatever happens around them. FIRN_STRESS makes it longer: in
// thousands of writes.
func TestStress(t *testing.T) {
	thousands := 15
	if invariants.Race { // where bytes move by atomic words
		thousands = 2
	}
	if n, err := strconv.Atoi(os.Getenv("FIRN_STRESS")); err == nil {
		thousands = n
	}
	for _, keys := range []int{30, 600} { // all fit; most do not
		t.Run(fmt.Sprint(keys), func(t *testing.T) {
			t.Parallel()
			s := newStress(t, 2<<20, keys)
			if err := s.Run(thousands, max(thousands, 5)); err != nil {
				t.Fatal(err)
			}
			if s.Hits.Load() == 0 {
				t.Error("no read found anything")
			}
			if err := harness.CheckInvariants(s.C); err != nil {
				t.Error(err)
			}
			for _, r := range s.Registers { // quiet now: the last write, or nothing
				v, ok := s.C.Get(nil, r.Key)
				if !ok {
					continue
				}
				if err := r.CheckRead(r.Acked(), v); err != nil {
					t.Error(err)
				}
			}
		})
	}
}
