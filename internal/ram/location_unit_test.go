package ram

import (
	"fmt"
	"testing"
)

// A record of 88 bytes takes 88 in a cache of up to 32 GiB, unless it is to grow
// beyond: the address space that is reserved by default does not make the units
// of locations larger. Every location that there may be has a number.
func TestUnitOfLocations(t *testing.T) {
	t.Parallel()
	const gib = 1 << 30
	for _, c := range []struct{ bytes, most, want int64 }{
		{64 << 10, 0, 88}, {gib, 0, 88}, {8 * gib, 0, 88}, {9 * gib, 0, 88}, {32 * gib, 0, 88},
		{16 * gib, 32 * gib, 88}, {16 * gib, 33 * gib, 96}, {33 * gib, 0, 96}, {64 * gib, 0, 96},
		{128 * gib, 0, 96}, {256 * gib, 0, 128}, {512 * gib, 0, 128}, {MaxBytes, MaxBytes, 1 << 14},
	} {
		t.Run(fmt.Sprintf("%d/%d", c.bytes>>30, c.most>>30), func(t *testing.T) {
			g := geometryFor(c.bytes, c.most)
			tier := Tier{unitShift: g.unitShift}
			if got := int64(tier.roundUp(88)); got != c.want {
				t.Errorf("a record of 88 bytes takes %d: want %d", got, c.want)
			}
			if end := uint64(g.maxSegments+1) << g.segShift; (end-1)>>g.unitShift >= 1<<32 {
				t.Errorf("the last of %d bytes has no location in units of %d", end, 1<<g.unitShift)
			}
			if room := int64(g.maxSegments) * g.segmentCost(); room < max(c.bytes, c.most) {
				t.Errorf("segments for %d bytes: want %d", room, max(c.bytes, c.most))
			}
		})
	}
}
