package shared

import (
	"testing"
	"time"
)

// The end of trust is heeded while the coarse time stands still: the clock is asked when the
// end is near, and only then.
func TestTrustEndsInTime(t *testing.T) {
	now, asked := int64(1000), 0
	trust, feed := NewTrust(1, 4), NewFeed()
	trust.SetClock(func() int64 { asked++; return now }, 100*time.Millisecond)
	trust.SetFeed(0, feed)
	trust.Advance(now)
	stamp := feed.Stamp(0)
	for _, step := range []struct {
		until, now   int64
		holds, asked bool
	}{
		{until: 1200, now: 1000, holds: true},
		{until: 1099, now: 1099, holds: true, asked: true},
		{until: 1099, now: 1100, holds: false, asked: true},
		{until: 999, now: 1100, holds: false},
		{until: 1100, now: 1100, holds: true},
	} {
		now, asked = step.now, 0
		feed.Extend(step.until)
		if got := trust.Holds(stamp); got != step.holds || asked > 0 != step.asked {
			t.Errorf("until %d at %d: %v, asked %d times: want %v, %v", step.until, step.now, got, asked, step.holds, step.asked)
		}
	}
	trust.Restamp(7, 8, stamp)
	feed.Extend(1099)
	if trust.HoldsCopy(7, 8, NewFeed().Stamp(0)) {
		t.Error("a copy that was stamped anew is trusted after the end")
	}
}
