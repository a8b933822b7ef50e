package bytes

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/cachetest"
	"github.com/firncache/firn/internal/invariants"
	"github.com/firncache/firn/internal/tests/harness"
)

// A value is there until one millisecond before its deadline.
func TestTTLToTheMillisecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		clock := &cachetest.Clock{}
		c := harness.Open(t, firn.Options{RAMBytes: 1 << 20, Clock: clock.Now})
		key := []byte("k")
		for _, ttl := range []time.Duration{time.Millisecond, 2 * time.Millisecond, 250 * time.Millisecond, time.Second, time.Hour, 10 * 365 * 24 * time.Hour} {
			for _, size := range []int{3, 5000, 200_000} {
				if err := c.SetWithTTL(key, make([]byte, size), ttl); err != nil {
					t.Fatal(err)
				}
				clock.Advance(ttl - time.Millisecond)
				if left, ok := c.TTL(key); !ok || left != time.Millisecond {
					t.Errorf("%v: %v left, %v, a millisecond before the deadline", ttl, left, ok)
				}
				if _, ok := c.Get(nil, key); !ok || !c.Has(key) {
					t.Errorf("%v, %d bytes: gone a millisecond before the deadline", ttl, size)
				}
				clock.Advance(time.Millisecond)
				if _, ok := c.Get(nil, key); ok || c.Has(key) {
					t.Errorf("%v, %d bytes: there at the deadline", ttl, size)
				}
				if left, ok := c.TTL(key); ok || left != 0 {
					t.Errorf("%v: %v left, %v, at the deadline", ttl, left, ok)
				}
			}
		}
		_, err := c.GetOrLoad(t.Context(), nil, key, func(ctx context.Context, _ []byte) ([]byte, error) {
			return []byte("v"), firn.SetLoadTTL(ctx, 1) // the rest of a life that was computed
		})
		if left, ok := c.TTL(key); err != nil || !ok || left != time.Millisecond {
			t.Errorf("loaded for a nanosecond: %v left, %v, %v", left, ok, err)
		}
	})
}

func TestTTLValues(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		clock := &cachetest.Clock{}
		c := harness.Open(t, firn.Options{RAMBytes: 1 << 20, Clock: clock.Now, TTL: time.Minute})
		key := []byte("k")
		want := func(ttl time.Duration) {
			t.Helper()
			if got, ok := c.TTL(key); !ok || got != ttl {
				t.Errorf("TTL is %v, %v, want %v", got, ok, ttl)
			}
		}
		harness.Set(t, c, key, []byte("v"))
		want(time.Minute)
		clock.Advance(time.Second)
		want(59 * time.Second)
		if err := c.SetMulti(t.Context(), [][]byte{key}, [][]byte{[]byte("w")}); err != nil {
			t.Fatal(err)
		}
		want(time.Minute)
		if err := c.SetWithTTL(key, []byte("x"), firn.Forever); err != nil {
			t.Fatal(err)
		}
		want(firn.Forever)
		if err := c.SetWithTTL(key, []byte("x"), 1500*time.Microsecond); err != nil {
			t.Fatal(err)
		}
		want(2 * time.Millisecond)
		for _, ttl := range []time.Duration{0, -1, 60, -time.Hour, math.MinInt64, math.MaxInt64 - 1} {
			err := c.SetWithTTL(key, []byte("never"), ttl)
			if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("is %v: want 1ms to 876000h0m0s, or firn.Forever", ttl)) {
				t.Errorf("SetWithTTL(%v): %v: want an error that names it", ttl, err)
			}
		}
		if v, ok := c.Get(nil, key); !ok || string(v) != "x" {
			t.Errorf("after refused writes: %q, %v", v, ok)
		}
	})
}

// However the clock steps, a value with a TTL is not one without.
func TestTTLWhenTheClockStepsBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		clock := &cachetest.Clock{}
		clock.Advance(time.Hour)
		c := harness.Open(t, firn.Options{RAMBytes: 1 << 20, Clock: clock.Now})
		key := []byte("k")
		for _, back := range []time.Duration{time.Second, 2 * time.Second, time.Minute, 365 * 24 * time.Hour} {
			clock.Advance(-back)
			for _, ttl := range []time.Duration{time.Millisecond, time.Second, back - time.Second, back} {
				if err := c.SetWithTTL(key, []byte("v"), max(ttl, time.Millisecond)); err != nil {
					t.Fatal(err)
				}
				if left, ok := c.TTL(key); ok && left == firn.Forever {
					t.Errorf("clock %v back, TTL %v: the value never expires", back, ttl)
				}
			}
			clock.Advance(2 * back)
			if c.Has(key) {
				t.Errorf("clock %v back and forth: still there", back)
			}
			clock.Advance(-back)
		}
	})
}

// Expired, overwritten and deleted space comes back without a read and without
// an eviction.
func TestSpaceComesBack(t *testing.T) {
	t.Parallel()
	const size = 1000
	budget, rounds := 4<<20, 20
	if invariants.Race { // where bytes move by atomic words
		budget, rounds = 1<<20, 10
	}
	fill := func(t *testing.T, c *firn.Cache, round, n int, ttl time.Duration) {
		for i := range n {
			if err := c.SetWithTTL(fmt.Appendf(nil, "%d.%d", round, i), make([]byte, size), ttl); err != nil {
				t.Fatal(err)
			}
		}
	}
	half := budget / size / 2
	cases := map[string]func(t *testing.T, c *firn.Cache, clock *cachetest.Clock, round int){
		"expired": func(t *testing.T, c *firn.Cache, clock *cachetest.Clock, round int) {
			fill(t, c, round, half, time.Second)
			clock.Advance(3 * time.Second)
			harness.Sweep(c)
			if n := c.Len(); n != 0 {
				t.Fatalf("%d entries after the sweep", n)
			}
		},
		"expired at different times": func(t *testing.T, c *firn.Cache, clock *cachetest.Clock, round int) {
			for i := range half {
				ttl := time.Duration(1+i%1000) * time.Millisecond
				if i%100 == 0 {
					ttl = time.Hour // a few that hold their segments
				}
				if err := c.SetWithTTL(fmt.Append(nil, i), make([]byte, size), ttl); err != nil {
					t.Fatal(err)
				}
			}
			clock.Advance(4 * time.Minute)
			harness.Sweep(c)
			if n := c.Len(); n > half/50 {
				t.Fatalf("%d entries after the sweep, want about %d", n, half/100)
			}
		},
		"deleted": func(t *testing.T, c *firn.Cache, _ *cachetest.Clock, round int) {
			fill(t, c, round, half, firn.Forever)
			for i := range half {
				if err := c.Delete(fmt.Appendf(nil, "%d.%d", round, i)); err != nil {
					t.Fatal(err)
				}
			}
		},
		"overwritten in place": func(t *testing.T, c *firn.Cache, _ *cachetest.Clock, round int) {
			fill(t, c, 0, half, firn.Forever)
		},
		"overwritten by other lengths": func(t *testing.T, c *firn.Cache, _ *cachetest.Clock, round int) {
			for i := range half {
				harness.Set(t, c, fmt.Append(nil, i), make([]byte, size-round))
			}
		},
		"cleared": func(t *testing.T, c *firn.Cache, _ *cachetest.Clock, round int) {
			fill(t, c, round, half, firn.Forever)
			if err := c.Clear(t.Context()); err != nil {
				t.Fatal(err)
			}
		},
	}
	for name, load := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				clock := &cachetest.Clock{}
				c := harness.Open(t, firn.Options{RAMBytes: int64(budget), Clock: clock.Now})
				for round := range rounds {
					load(t, c, clock, round)
				}
				if n := c.Stats().Evictions; n != 0 {
					t.Errorf("%d entries were evicted to make room", n)
				}
			})
		})
	}
}

// The cache takes expired entries out by itself.
func TestExpiryWithoutCalls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		expired := make(chan string, 100)
		c := harness.Open(t, firn.Options{RAMBytes: 1 << 20, Clock: time.Now, OnEvict: func(key, value []byte, cause firn.Cause) {
			expired <- fmt.Sprintf("%s=%s %v", key, value, cause)
		}})
		if err := c.SetWithTTL([]byte("k"), []byte("v"), 10*time.Millisecond); err != nil {
			t.Fatal(err)
		}
		harness.Set(t, c, []byte("stays"), []byte("v"))
		start := time.Now()
		if got := <-expired; got != "k=v expired" {
			t.Errorf("%s", got)
		}
		if took := time.Since(start); took > 3*time.Second {
			t.Errorf("it took %v", took)
		}
		if n := c.Len(); n != 1 {
			t.Errorf("%d entries, want 1", n)
		}
	})
}

// A bad option is an error that names the field, the value and what it should be.
func TestOptionErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		opts firn.Options
		want []string
	}{
		{firn.Options{}, []string{"RAMBytes", "0", "65536"}},
		{firn.Options{RAMBytes: -5}, []string{"RAMBytes", "-5", "65536"}},
		{firn.Options{RAMBytes: 65535}, []string{"RAMBytes", "65535", "65536"}},
		{firn.Options{RAMBytes: math.MaxInt64}, []string{"RAMBytes", fmt.Sprint(int64(math.MaxInt64))}},
		{firn.Options{RAMBytes: 1 << 20, MaxRAMBytes: 1<<20 - 1}, []string{"MaxRAMBytes", "1048575", "1048576"}},
		{firn.Options{RAMBytes: 1 << 20, MaxRAMBytes: -1}, []string{"MaxRAMBytes", "-1"}},
		{firn.Options{RAMBytes: 1 << 20, MaxRAMBytes: math.MaxInt64}, []string{"MaxRAMBytes", fmt.Sprint(int64(math.MaxInt64))}},
		{firn.Options{RAMBytes: 1 << 20, TTL: -time.Second}, []string{"TTL", "-1s"}},
		{firn.Options{RAMBytes: 1 << 20, TTL: math.MaxInt64 - 1}, []string{"TTL", time.Duration(math.MaxInt64 - 1).String()}},
	} {
		cache, err := firn.Open(c.opts)
		if err == nil {
			cache.Close()
			t.Errorf("%+v: no error", c.opts)
			continue
		}
		for _, w := range c.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%+v: %q: want it to tell %q", c.opts, err, w)
			}
		}
	}
}

// Options.TTL takes Forever for the default, which jitter leaves alone.
func TestForeverIsTheDefault(t *testing.T) {
	for _, ttl := range []time.Duration{0, firn.Forever} {
		c := harness.Open(t, firn.Options{RAMBytes: 1 << 20, TTL: ttl, Loading: firn.LoadingOptions{TTLJitter: 0.5}})
		k, v := [][]byte{[]byte("a")}, [][]byte{[]byte("v")}
		for name, write := range map[string]func() error{
			"Set":      func() error { return c.Set(k[0], v[0]) },
			"SetMulti": func() error { return c.SetMulti(t.Context(), k, v) },
			"GetOrLoad": func() error {
				_, err := c.GetOrLoad(t.Context(), nil, k[0], func(context.Context, []byte) ([]byte, error) { return v[0], nil })
				return err
			},
		} {
			if err := c.Delete(k[0]); err != nil {
				t.Fatal(err)
			}
			if err := write(); err != nil {
				t.Error(name, err)
			}
			if left, ok := c.TTL(k[0]); left != firn.Forever || !ok {
				t.Errorf("TTL %v, %s: %v left, %v", ttl, name, left, ok)
			}
		}
	}
}
