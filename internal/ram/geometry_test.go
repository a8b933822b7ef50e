package ram

import (
	"fmt"
	"testing"
)

// What is planned with is the largest record that a tier takes, also where the
// lower tier uses nearly all.
func TestPlannedMaxRecord(t *testing.T) {
	t.Parallel()
	for _, bytes := range []int64{64 << 10, 300_000, 1 << 20, 8 << 20} {
		t.Run(fmt.Sprint(bytes), func(t *testing.T) {
			t.Parallel()
			tier, err := New(Config{Bytes: bytes, Seed: 1, Simulation: ServiceSimulation(bytes)})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { tier.Close() })
			most := bytes - tier.minOwn()
			for step := range 9 {
				reserved := tier.reserved.Load()
				if got, want := MaxRecord(bytes, reserved), tier.MaxRecord(); got != want {
					t.Errorf("with %d bytes reserved a record of %d bytes is planned: the tier takes %d", reserved, got, want)
				}
				if step == 8 {
					break
				}
				if err := tier.Reserve(most / 8); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}
