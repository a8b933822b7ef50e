package clock

import (
	"testing"
	"testing/synctest"
	"time"
)

// The coarse time follows the exact one while it has users, however many, and is
// unknown otherwise. That its goroutine ends, the bubble sees.
func TestCoarse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		exact := func() int64 { return 1000 + time.Since(start).Milliseconds() }
		c := New(exact)
		for round := range 3 {
			if at := c.Time.Load(); at != Unknown {
				t.Fatalf("round %d, without users: %d", round, at)
			}
			c.Join()
			if at := c.Time.Load(); at != exact() {
				t.Fatalf("round %d, with the first user: %d, want %d", round, at, exact())
			}
			c.Join()
			for range 3 {
				time.Sleep(Tick + time.Millisecond)
				if lag := exact() - c.Time.Load(); lag < 0 || lag > Tick.Milliseconds() {
					t.Errorf("round %d: %d ms behind", round, lag)
				}
				if c.users == 2 {
					c.Leave()
				}
			}
			c.Leave()
		}
	})
}

// The process's time is above 0, and a bubble's is known for one.
func TestInBubble(t *testing.T) {
	if now := Millis(); now <= 0 || InBubble() {
		t.Errorf("outside of a bubble: %d, in one: %v", now, InBubble())
	}
	synctest.Test(t, func(t *testing.T) {
		if !InBubble() {
			t.Errorf("in a bubble: %d, and it is not known for one", Millis())
		}
	})
}
