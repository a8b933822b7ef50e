package bytes

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/cachetest"
	"github.com/firncache/firn/internal/tests/harness"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// Touch changes when a value expires, and nothing else.
func TestTouch(t *testing.T) {
	clock := &cachetest.Clock{}
	events := 0
	c := harness.OpenSmall(t, func(o *firn.Options) {
		o.Clock, o.TTL, o.OnEvict = clock.Now, time.Minute, func(_, _ []byte, _ firn.Cause) { events++ }
	})
	key := []byte("k")
	harness.Set(t, c, key, []byte("v"))
	before := c.Stats()
	for _, ttl := range []time.Duration{time.Hour, time.Second, firn.Forever, firn.Forever, time.Minute} {
		if ok, err := c.Touch(t.Context(), key, ttl); !ok || err != nil {
			t.Errorf("Touch(%v): %v, %v", ttl, ok, err)
		}
		if got, ok := c.TTL(key); !ok || got != ttl {
			t.Errorf("Touch(%v): TTL %v, %v", ttl, got, ok)
		}
	}
	if after := c.Stats(); after.Sets != before.Sets || after.Hits != before.Hits || after.Misses != before.Misses || events != 0 {
		t.Errorf("touched: %+v, before %+v, and OnEvict was told of %d", after, before, events)
	}
	for _, ttl := range []time.Duration{0, -1, 60, math.MaxInt64 - 1} {
		if ok, err := c.Touch(t.Context(), key, ttl); ok || err == nil || !strings.Contains(err.Error(), "want 1ms to 876000h0m0s, or firn.Forever") {
			t.Errorf("Touch(%v): %v, %v: want an error that tells the bounds", ttl, ok, err)
		}
	}
	clock.Advance(time.Minute)
	for _, key := range []string{"k", "absent"} {
		if ok, err := c.Touch(t.Context(), []byte(key), time.Hour); ok || err != nil || c.Has([]byte(key)) {
			t.Errorf("Touch of %s after a minute: %v, %v", key, ok, err)
		}
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if ok, err := c.Touch(t.Context(), key, time.Hour); ok || !errors.Is(err, firn.ErrClosed) {
		t.Errorf("after Close: %v, %v", ok, err)
	}
}

// A load that was under way when its key was touched stores its value: it is as new as
// the value that was touched.
func TestTouchDuringLoad(t *testing.T) {
	c := harness.OpenSmall(t, func(o *firn.Options) { o.TTL = time.Minute })
	key := []byte("k")
	harness.Set(t, c, key, []byte("old"))
	_, err := c.Refresh(t.Context(), nil, key, func(ctx context.Context, _ []byte) ([]byte, error) {
		_, err := c.Touch(ctx, key, time.Hour)
		return []byte("new"), err
	})
	if v, ok := c.Get(nil, key); string(v) != "new" || !ok || err != nil {
		t.Errorf("%q, %v, %v", v, ok, err)
	}
}

// touchedOnSSD is a cache over fs where "k", with an hour to live, lies on the SSD alone.
func touchedOnSSD(t *testing.T, fs *vfstest.Mem, clock *cachetest.Clock) *firn.Cache {
	t.Helper()
	c := harness.OpenOn(t, fs, func(o *firn.Options) { o.Clock = clock.Now })
	if err := c.SetWithTTL([]byte("k"), []byte("v"), time.Hour); err != nil {
		t.Fatal(err)
	}
	harness.Demote(t, c)
	return c
}

// tierOf is where a value is found, without a read of it that counts.
func tierOf(t *testing.T, c *firn.Cache, key string) firn.Tier {
	t.Helper()
	e, err := c.LookupEntry(t.Context(), nil, []byte(key))
	if err != nil {
		t.Fatal(err)
	}
	return e.Tier
}

// What lies on the SSD is touched there, or in RAM with its copy below: the deadline goes
// down with the value, and comes back with it, also in another process.
func TestTouchOnSSD(t *testing.T) {
	for name, ttl := range map[string]time.Duration{"later": 2 * time.Hour, "for ever": firn.Forever, "sooner": time.Minute} {
		for _, promoted := range []bool{false, true} {
			clock := &cachetest.Clock{}
			fs := vfstest.NewMem()
			c := touchedOnSSD(t, fs, clock)
			if promoted {
				if tier := tierOf(t, c, "k"); tier != firn.TierSSD {
					t.Fatalf("it lies in %v: the test shows nothing", tier)
				}
			}
			again := func() {
				t.Helper()
				if err := c.Close(); err != nil {
					t.Fatal(err)
				}
				c = harness.OpenOn(t, fs, func(o *firn.Options) { o.Clock = clock.Now })
			}
			for round, down := range []func(){func() { harness.Demote(t, c) }, again, again} {
				if ok, err := c.Touch(t.Context(), []byte("k"), ttl); !ok || err != nil {
					t.Fatalf("%s, promoted %v: %v, %v", name, promoted, ok, err)
				}
				down()
				if got, ok := c.TTL([]byte("k")); !ok || got != ttl {
					t.Errorf("%s, promoted %v, round %d: TTL %v, %v, want %v", name, promoted, round, got, ok, ttl)
				}
				if tier := tierOf(t, c, "k"); tier != firn.TierSSD {
					t.Errorf("%s, round %d: it lies in %v: the test shows nothing", name, round, tier)
				}
			}
			clock.Advance(min(ttl, 1000*time.Hour))
			if v, ok := c.Get(nil, []byte("k")); ok != (ttl == firn.Forever) {
				t.Errorf("%s, promoted %v: %q, %v, after its time", name, promoted, v, ok)
			}
		}
	}
}

// A process that dies after a Touch leaves no later deadline than the touched one. An
// earlier deadline that was made later may be there still.
func TestTouchSurvivesCrash(t *testing.T) {
	for name, x := range map[string]struct {
		ttl, least, most time.Duration // to live after the crash
	}{
		"sooner": {time.Minute, 0, time.Minute},
		"later":  {2 * time.Hour, time.Hour, 2 * time.Hour},
	} {
		clock := &cachetest.Clock{}
		fs := vfstest.NewMem()
		c := touchedOnSSD(t, fs, clock)
		if err := c.Close(); err != nil { // so that it is on the SSD, whatever a crash takes
			t.Fatal(err)
		}
		c = harness.OpenOn(t, fs, func(o *firn.Options) { o.Clock = clock.Now })
		if tier := tierOf(t, c, "k"); tier != firn.TierSSD {
			t.Fatalf("%s: it lies in %v: the test shows nothing", name, tier)
		}
		if ok, err := c.Touch(t.Context(), []byte("k"), x.ttl); !ok || err != nil {
			t.Fatal(name, ok, err)
		}
		dead := fs.CrashClone(nil, vfstest.Kill)
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		c = harness.OpenOn(t, dead, func(o *firn.Options) { o.Clock = clock.Now })
		if ttl, ok := c.TTL([]byte("k")); ttl < x.least || ttl > x.most || ok != (x.least > 0) {
			t.Errorf("%s: TTL %v, %v after a crash, want %v to %v", name, ttl, ok, x.least, x.most)
		}
	}
}

// A Touch waits for the disk as long as its context lets it.
func TestTouchHasAContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		faulty := vfstest.NewFaulty(vfstest.NewMem())
		c := harness.OpenOn(t, faulty, func(o *firn.Options) { o.Clock = time.Now })
		defer c.Close()
		if err := c.SetWithTTL([]byte("k"), []byte("v"), time.Hour); err != nil {
			t.Fatal(err)
		}
		harness.Demote(t, c)
		synctest.Wait()
		held := faulty.Inject(vfstest.Rule{On: vfstest.OpRead, Name: "log", Block: true})
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if ok, err := c.Touch(ctx, []byte("k"), time.Minute); ok || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v, %v", ok, err)
		}
		held.Remove()
		synctest.Wait()
		if ok, err := c.Touch(t.Context(), []byte("k"), time.Minute); !ok || err != nil {
			t.Errorf("%v, %v", ok, err)
		}
	})
}

// A typed value is touched whatever it is, and so is its front's.
func TestTypedTouch(t *testing.T) {
	clock := &cachetest.Clock{}
	c := harness.OpenSmall(t, func(o *firn.Options) { o.Clock = clock.Now })
	typed := harness.NewTyped(t, c, "n", harness.WithFront(firn.TypedOptions[string, string]{}))
	if ok, err := typed.Touch(t.Context(), "k", time.Hour); ok || err != nil {
		t.Errorf("%v, %v: want nothing", ok, err)
	}
	typed.Set("k", "v")
	for _, ttl := range []time.Duration{time.Minute, time.Hour, firn.Forever, time.Second} {
		typed.Get("k")
		typed.Get("k")
		if ok, err := typed.Touch(t.Context(), "k", ttl); !ok || err != nil {
			t.Errorf("Touch(%v): %v, %v", ttl, ok, err)
		}
		typed.Get("k")
		if got, ok := typed.TTL("k"); !ok || got != ttl {
			t.Errorf("Touch(%v): TTL %v, %v", ttl, got, ok)
		}
	}
	clock.Advance(time.Second)
	if v, ok := typed.Get("k"); ok {
		t.Errorf("%q after its time", v)
	}
	if ok, err := typed.Touch(t.Context(), "k", -1); ok || err == nil {
		t.Errorf("%v, %v: want an error", ok, err)
	}
}
