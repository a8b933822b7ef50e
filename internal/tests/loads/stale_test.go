package loads

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/tests/harness"
)

// For a while after its deadline a value is returned at once and loaded behind
// the caller; only by calls that load.
func TestStaleWhileRevalidate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := harness.OpenSmall(t, func(o *firn.Options) { o.TTL, o.Loading.StaleWhileRevalidate = time.Minute, 30*time.Second })
		k := []byte("k")
		s := &source{slow: time.Second}
		s.expect(t, c, "v1", nil)
		time.Sleep(time.Minute)
		if _, ok := c.Get(nil, k); ok || c.Has(k) {
			t.Error("Get or Has find an expired value")
		}
		for key := range c.All() {
			t.Errorf("All yields %q", key)
		}
		start := time.Now()
		var wg sync.WaitGroup
		for range 1000 {
			wg.Go(func() { s.expect(t, c, "v1", nil) })
		}
		wg.Wait()
		if time.Since(start) != 0 {
			t.Errorf("the callers waited for %v", time.Since(start))
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if v, ok := c.Get(nil, k); !ok || string(v) != "v2" {
			t.Errorf("after the refresh: %q, %v", v, ok)
		}
		if st := c.Stats(); s.count() != 2 || st.Loads.StaleServed != 1000 || st.Loads.Refreshes != 1 || st.Loads.StaleOnError != 0 {
			t.Errorf("%d loads, Stats: %+v", s.count(), st)
		}

		time.Sleep(time.Minute + 30*time.Second - time.Millisecond)
		s.expect(t, c, "v2", nil)
		time.Sleep(time.Minute + 31*time.Second)
		start = time.Now()
		s.expect(t, c, "v4", nil)
		if time.Since(start) != time.Second {
			t.Errorf("beyond StaleWhileRevalidate the caller waited for %v", time.Since(start))
		}
		time.Sleep(10 * time.Minute)
		if n := c.Len(); n != 0 {
			t.Errorf("%d entries are left long after their time", n)
		}
	})
}

// The stale values of a batch are refreshed by one bulk load, behind the caller.
func TestStaleMulti(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := harness.OpenSmall(t, func(o *firn.Options) { o.TTL, o.Loading.StaleWhileRevalidate = time.Minute, 30*time.Second })
		var b firn.Batch
		get := func(want string, load firn.MultiLoadFunc) {
			t.Helper()
			start := time.Now()
			if err := c.GetOrLoadMulti(t.Context(), &b, keysOf("a b c"), load); err != nil || show(&b) != want || time.Since(start) != 0 {
				t.Errorf("%q, %v after %v: want %q at once", show(&b), err, time.Since(start), want)
			}
			synctest.Wait()
		}
		get("1 1 1", afterAll(0, "1"))
		time.Sleep(time.Minute)
		c.Set([]byte("b"), []byte("new"))
		get("1 new 1", afterAll(time.Second, "2"))
		time.Sleep(time.Second)
		synctest.Wait()
		get("2 new 2", nil)
		if st := c.Stats(); st.Loads.Refreshes != 2 || st.Loads.StaleServed != 2 || st.Loads.Count != 5 {
			t.Errorf("%d refreshes, %d stale values, %d loads: want 2, 2, 5", st.Loads.Refreshes, st.Loads.StaleServed, st.Loads)
		}
	})
}

// While a value is stale, every write ends it, and wins over its refresh.
func TestStaleRaces(t *testing.T) {
	k := []byte("k")
	for name, x := range map[string]struct {
		write func(c *firn.Cache) error
		want  string
	}{
		"Set":     {func(c *firn.Cache) error { return c.Set(k, []byte("set")) }, "set"},
		"Delete":  {func(c *firn.Cache) error { return c.Delete(k) }, "v3"},
		"Clear":   {func(c *firn.Cache) error { return c.Clear(t.Context()) }, "v3"},
		"nothing": {func(c *firn.Cache) error { return nil }, "v1"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := harness.OpenSmall(t, func(o *firn.Options) {
					o.TTL, o.Loading.StaleWhileRevalidate, o.Loading.StaleIfError = time.Minute, time.Hour, 2*time.Hour
				})
				s := &source{slow: 10 * time.Second}
				s.expect(t, c, "v1", nil)
				time.Sleep(2 * time.Minute)
				s.expect(t, c, "v1", nil)
				synctest.Wait() // its refresh runs
				if err := x.write(c); err != nil {
					t.Fatal(err)
				}
				s.expect(t, c, x.want, nil)
				time.Sleep(time.Minute - time.Second)
				synctest.Wait()
				want := x.want
				if name == "nothing" {
					want = "v2"
				}
				if v, ok := c.Get(nil, k); !ok || string(v) != want {
					t.Errorf("afterwards: %q, %v, want %q", v, ok, want)
				}
			})
		})
	}
}

// When the source says that a stale value is gone, it is.
func TestStaleAndNotFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := harness.OpenSmall(t, func(o *firn.Options) {
			o.TTL, o.Loading.StaleWhileRevalidate, o.Loading.StaleIfError = time.Minute, time.Minute, time.Hour
		})
		s := &source{}
		s.expect(t, c, "v1", nil)
		time.Sleep(90 * time.Second)
		s.fail(firn.ErrNotFound)
		s.expect(t, c, "v1", nil)
		synctest.Wait()
		s.expect(t, c, "", firn.ErrNotFound)
		boom := errors.New("boom")
		s.fail(boom)
		s.expect(t, c, "", boom)
	})
}

// If the load fails, the expired value is better than nothing.
func TestStaleIfError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := harness.OpenSmall(t, func(o *firn.Options) {
			o.TTL, o.Loading.StaleIfError, o.Loading.HardTimeout = time.Minute, time.Hour, 10*time.Second
			o.Loading.RetryAfter = time.Millisecond
		})
		boom := errors.New("boom")
		s := &source{}
		s.expect(t, c, "v1", nil)
		s.fail(boom)
		s.expect(t, c, "v1", nil) // a hit
		time.Sleep(2 * time.Minute)
		s.expect(t, c, "v1", nil)
		if _, ok := c.Get(nil, []byte("k")); ok {
			t.Error("the expired value was stored anew")
		}
		time.Sleep(time.Millisecond)
		var b firn.Batch
		err := c.GetOrLoadMulti(t.Context(), &b, keysOf("k other"), func(context.Context, [][]byte) ([][]byte, error) { return nil, boom })
		time.Sleep(time.Millisecond)
		if err != boom || show(&b) != "v1 -" {
			t.Errorf("GetOrLoadMulti: %q, %v", show(&b), err)
		}
		if _, err := c.Refresh(t.Context(), nil, []byte("k"), s.load); err != boom {
			t.Errorf("Refresh: %v", err)
		}
		time.Sleep(time.Millisecond)
		start := time.Now()
		v, err := c.GetOrLoad(t.Context(), nil, []byte("k"), after(time.Minute, "too late"))
		if err != nil || string(v) != "v1" || time.Since(start) != 10*time.Second {
			t.Errorf("at the hard timeout: %q, %v after %v", v, err, time.Since(start))
		}
		if st := c.Stats(); st.Loads.StaleOnError != 3 || st.Loads.StaleServed != 3 || st.Loads.Errors != 4 || st.Loads.Timeouts != 1 {
			t.Errorf("%d times fail-safe, %d stale, %d errors, %d timeouts: want 3, 3, 4, 1", st.Loads.StaleOnError, st.Loads.StaleServed, st.Loads.Errors, st.Loads.Timeouts)
		}
		time.Sleep(time.Millisecond)
		func() {
			defer func() {
				if recover() == nil {
					t.Error("a panic was hidden by an expired value")
				}
			}()
			c.GetOrLoad(t.Context(), nil, []byte("k"), func(context.Context, []byte) ([]byte, error) { panic("boom") })
		}()
		s.fail(firn.ErrNotFound)
		s.expect(t, c, "", firn.ErrNotFound)
		s.fail(boom)
		s.expect(t, c, "", boom)
		s.fail(nil)
		s.expect(t, c, "v6", nil)
		time.Sleep(time.Minute + time.Hour)
		s.fail(boom)
		s.expect(t, c, "", boom)
		time.Sleep(time.Minute) // loaders that did not listen
	})
}

// What the fail-safe returns is what is there when the load has failed: not
// what a write has replaced or taken away meanwhile.
func TestStaleIfErrorRaces(t *testing.T) {
	k, boom := []byte("k"), errors.New("boom")
	for name, x := range map[string]struct {
		during func(c *firn.Cache) error
		want   string
		err    error
	}{
		"nothing": {func(*firn.Cache) error { return nil }, "v1", nil},
		"Set":     {func(c *firn.Cache) error { return c.Set(k, []byte("set")) }, "set", nil},
		"Delete":  {func(c *firn.Cache) error { return c.Delete(k) }, "", boom},
		"Clear":   {func(c *firn.Cache) error { return c.Clear(t.Context()) }, "", boom},
		"Close":   {func(c *firn.Cache) error { return c.Close() }, "", firn.ErrClosed},
		"expiry":  {func(*firn.Cache) error { time.Sleep(time.Hour); return nil }, "", boom},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := harness.OpenSmall(t, func(o *firn.Options) {
					o.TTL, o.Loading.StaleIfError, o.Loading.HardTimeout = time.Minute, time.Hour, firn.Forever
				})
				s := &source{}
				s.expect(t, c, "v1", nil)
				s.slow = 2 * time.Hour
				s.fail(boom)
				time.Sleep(30 * time.Minute)
				done := make(chan struct{})
				go func() {
					defer close(done)
					if name != "expiry" && name != "Close" {
						s.slow = time.Second
					}
					s.expect(t, c, x.want, x.err)
				}()
				synctest.Wait()
				if err := x.during(c); err != nil {
					t.Fatal(err)
				}
				<-done
			})
		})
	}
}

// At the soft timeout the expired value is the answer, and the load goes on.
func TestSoftTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := harness.OpenSmall(t, func(o *firn.Options) {
			o.TTL, o.Loading.StaleIfError, o.Loading.SoftTimeout = time.Minute, time.Hour, time.Second
		})
		s := &source{slow: 10 * time.Second}
		start := time.Now()
		took := func(want time.Duration) {
			t.Helper()
			if got := time.Since(start); got != want {
				t.Errorf("it took %v, want %v", got, want)
			}
			start = time.Now()
		}
		s.expect(t, c, "v1", nil) // there is nothing to answer with
		took(10 * time.Second)
		time.Sleep(time.Minute)
		start = time.Now()
		s.expect(t, c, "v1", nil)
		took(time.Second)
		var b firn.Batch
		go c.GetOrLoad(t.Context(), nil, []byte("other"), harness.Value("o"))
		synctest.Wait()
		if err := c.GetOrLoadMulti(t.Context(), &b, keysOf("k other k"), nil); err != nil || show(&b) != "v1 o v1" {
			t.Errorf("GetOrLoadMulti: %q, %v", show(&b), err)
		}
		took(time.Second)
		time.Sleep(8 * time.Second)
		synctest.Wait()
		if v, ok := c.Get(nil, []byte("k")); !ok || string(v) != "v2" {
			t.Errorf("the load did not go on: %q, %v", v, ok)
		}
		if st := c.Stats(); st.Loads.SoftTimeouts != 3 || st.Loads.StaleServed != 3 || st.Loads.StaleOnError != 0 || s.count() != 2 {
			t.Errorf("%d soft timeouts, %d stale values, %d times fail-safe, %d loads", st.Loads.SoftTimeouts, st.Loads.StaleServed, st.Loads.StaleOnError, s.count())
		}
	})
}

// Expired values live in the budget: they leave when their room is needed.
func TestStaleStaysInBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		causes := map[firn.Cause]int{}
		c := harness.OpenSmall(t, func(o *firn.Options) {
			o.TTL, o.Loading.StaleWhileRevalidate = time.Minute, 24*time.Hour
			o.OnEvict = func(_, _ []byte, cause firn.Cause) {
				mu.Lock()
				defer mu.Unlock()
				causes[cause]++
			}
		})
		for i := range 500 {
			c.Set([]byte{1, byte(i), byte(i >> 8)}, make([]byte, 1000))
		}
		time.Sleep(time.Hour)
		if n := c.Len(); n != 500 {
			t.Errorf("%d expired values are kept, want 500", n)
		}
		for i := range 2000 {
			if err := c.SetWithTTL([]byte{2, byte(i), byte(i >> 8)}, make([]byte, 1000), firn.Forever); err != nil {
				t.Fatal(err)
			}
		}
		mu.Lock()
		defer mu.Unlock()
		if s := c.Stats(); s.RAM.UsedBytes > s.RAM.Bytes || s.Evictions < 500 || uint64(causes[firn.CauseCapacity]) != s.Evictions {
			t.Errorf("%d of %d bytes, %v, %d evicted", s.RAM.UsedBytes, s.RAM.Bytes, causes, s.Evictions)
		}
	})
}
