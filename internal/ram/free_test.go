package ram

import (
	"runtime/debug"
	"testing"
)

// The lower tier may be late with what it reserves, or gives back: it finds a tier
// that was closed and freed, and touches none of its memory.
func TestReserveAfterFree(t *testing.T) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	now := int64(1000)
	tier := newOverLower(t, 4<<20, nil, &now)
	fill(t, tier, 30_000, 100)
	if err := tier.Reserve(1 << 20); err != nil {
		t.Fatal(err)
	}
	tier.Clear() // many segments are free
	tier.Free()
	for _, bytes := range []int64{1 << 20, -2 << 20} {
		if err := tier.Reserve(bytes); err != nil {
			t.Error(err)
		}
	}
}
