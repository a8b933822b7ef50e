package ram

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn/internal/clock"
	"github.com/firncache/firn/internal/evicted"
)

// Nothing outlives its deadline because OnEvict of another record takes long.
func TestExpiryWhileEvictedWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		entered, leave := make(chan string), make(chan struct{})
		tier, err := New(Config{
			Bytes: MinBytes, Seed: 1, Ticking: true,
			Now: func() int64 { return 1000 + time.Since(start).Milliseconds() },
			OnEvict: func(key, _ []byte, _ evicted.Cause) {
				entered <- string(key)
				<-leave
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		defer tier.Free()
		for key, deadline := range map[string]int64{"first": 1100, "second": 11_000} {
			if err := tier.setKey([]byte(key), []byte("value"), deadline); err != nil {
				t.Fatal(err)
			}
		}
		if key := <-entered; key != "first" {
			t.Fatalf("%s left first", key)
		}
		if _, ok := tier.Get(nil, []byte("second")); !ok {
			t.Error("the second record is gone before its time")
		}
		time.Sleep(11 * time.Second)
		if _, ok := tier.Get(nil, []byte("second")); ok {
			t.Error("a record is found after its deadline while another's end is being reported")
		}
		close(leave)
		<-entered
	})
}

// The process's clock is kept for tiers with its time alone, and as long as they
// have use for it.
func TestWhoKeepsTheClock(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		now     func() int64
		ticking bool
		process bool
		kept    bool
	}{
		{"the process's", nil, false, true, true},
		{"a given one", clock.Millis, false, false, false},
		{"a given one that ticks", clock.Millis, true, false, true},
	} {
		got := newTimes(c.now, c.ticking, 0)
		if process := got.keeper == clock.Process; process != c.process || process != (got.coarse == &clock.Process.Time) {
			t.Errorf("%s: the process's clock is used: %v", c.name, process)
		}
		if kept := got.keeper != nil; kept != c.kept {
			t.Errorf("%s: a coarse time is kept: %v", c.name, kept)
		}
	}
}

// A tier that ends keeps no clock, whether or not it ever had a deadline, and
// however Close and the first deadline meet.
func TestCloseLeavesTheClock(t *testing.T) {
	t.Parallel()
	for round := range 100 {
		tier, err := New(Config{Bytes: MinBytes, Seed: 1, Now: func() int64 { return 1 }, Ticking: true})
		if err != nil {
			t.Fatal(err)
		}
		set := make(chan struct{})
		go func() {
			defer close(set)
			_ = tier.setKey([]byte("key"), nil, 1000)
		}()
		if round%2 == 0 {
			<-set
		}
		tier.Close()
		<-set
		_ = tier.setKey([]byte("key"), nil, 1000)
		if at := tier.clock.coarse.Load(); at != clock.Unknown {
			t.Fatalf("the coarse time of a closed tier is %d", at)
		}
		tier.Free()
	}
}
