package whatif

import (
	"testing"
	"time"
)

// After a clock that was set back by hours time passes as before: the sample still becomes smaller
// when events take too much of it.
func TestClockSetBack(t *testing.T) {
	t.Parallel()
	var watch time.Duration
	s := NewTimed(MinBytes, 0.01, func() time.Duration { watch += time.Microsecond; return watch })
	told := func(now int64) {
		for i := range uint64(2 * verdictEarly) {
			s.Read(mix(i%10), true, 100, 0, now+int64(i/1000))
		}
	}
	s.Sync(2000, false, 0, 0)
	s.Read(1, true, 100, 0, 10*3_600_000)
	told(3_600_000)
	if s.Mask() == 0 {
		t.Error("after the clock was set back all keys are in the sample, which takes too long")
	}
}
