package clock

import "testing"

// What the machine's clock is ahead of the monotonic one counts, once it is seen, and stays.
func TestSuspension(t *testing.T) {
	var machine, monotonic int64 = 5000, 5000
	s := newSuspension(func() (int64, int64) { return machine, monotonic })
	for i, c := range []struct{ machine, monotonic, want int64 }{
		{10, 10, 0},
		{3_600_010, 10, 3_600_000}, // a suspend
		{1, 2, 3_600_000},          // between the two looks a millisecond has gone by
		{5, 500, 3_600_000},        // or half a second
		{600_496, 0, 4_200_000},    // and another suspend
	} {
		machine, monotonic = machine+c.machine, monotonic+c.monotonic
		if s.note(); s.total.Load() != c.want {
			t.Fatalf("%d: suspended for %d ms, want %d", i, s.total.Load(), c.want)
		}
	}
}

// The process's time has what the machine was suspended, from the next tick on.
func TestMillisCountsSuspension(t *testing.T) {
	defer func(was *suspension) { suspended = was }(suspended)
	var asleep int64
	suspended = newSuspension(func() (int64, int64) { return asleep, 0 })
	before := Millis()
	c := New(Millis)
	asleep = 3_600_000
	c.Join()
	defer c.Leave()
	if now := c.Time.Load(); now < before+asleep {
		t.Errorf("after an hour's suspend it is %d ms later, want an hour", now-before)
	}
}
