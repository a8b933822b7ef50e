package shared

import (
	"testing"
	"time"
)

// Whenever processes measure the offset, and however long the reading of the clocks takes, they find
// the same: a deadline that one writes another reads unchanged.
func TestUnixOffset(t *testing.T) {
	start := time.UnixMilli(1_800_000_000_002)
	for nanos := int64(0); nanos < int64(4*time.Millisecond); nanos += int64(37 * time.Microsecond) {
		for _, takes := range []time.Duration{0, time.Microsecond, 400 * time.Microsecond} {
			at := start.Add(time.Duration(nanos))
			unix := func() time.Time { at = at.Add(takes); return at }
			now := func() int64 { at = at.Add(takes); return at.Sub(start).Milliseconds() }
			if got := UnixOffset(unix, now); got != start.UnixMilli() {
				t.Errorf("after %d ns, with clocks that take %v: %d, want %d", nanos, takes, got, start.UnixMilli())
			}
		}
	}
}
