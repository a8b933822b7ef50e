package loads

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/tests/harness"
)

// source is what loaders of these tests ask: a version that grows with every
// load that begins, or an error.
type source struct {
	slow time.Duration // how long a load takes

	mu    sync.Mutex
	loads int
	err   error
}

func (s *source) load(ctx context.Context, _ []byte) ([]byte, error) {
	s.mu.Lock()
	s.loads++
	v, err := fmt.Append(nil, "v", s.loads), s.err
	s.mu.Unlock()
	select {
	case <-time.After(s.slow):
		return v, err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (s *source) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
}

func (s *source) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.loads
}

// expect calls GetOrLoad and checks its answer.
func (s *source) expect(t *testing.T, c *firn.Cache, want string, wantErr error) {
	t.Helper()
	v, err := c.GetOrLoad(t.Context(), nil, []byte("k"), s.load)
	if !errors.Is(err, wantErr) || string(v) != want {
		t.Errorf("GetOrLoad: %q, %v: want %q, %v", v, err, want, wantErr)
	}
}

// A value that is old enough is returned, and refreshed behind the caller, once.
func TestRefreshAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := harness.OpenSmall(t, func(o *firn.Options) { o.TTL, o.Loading.RefreshAfter = time.Minute, 40*time.Second })
		s := &source{slow: time.Second}
		s.expect(t, c, "v1", nil)
		time.Sleep(39 * time.Second)
		s.expect(t, c, "v1", nil)
		synctest.Wait()
		if n := s.count(); n != 1 {
			t.Fatalf("%d loads before RefreshAfter", n)
		}
		time.Sleep(time.Second)
		var wg sync.WaitGroup
		start := time.Now()
		for range 1000 {
			wg.Go(func() { s.expect(t, c, "v1", nil) })
		}
		wg.Wait()
		if time.Since(start) != 0 {
			t.Errorf("the callers waited for %v", time.Since(start))
		}
		time.Sleep(time.Second)
		synctest.Wait()
		s.expect(t, c, "v2", nil)
		if ttl, _ := c.TTL([]byte("k")); ttl < 59*time.Second {
			t.Errorf("the new value lives for %v", ttl)
		}
		if st := c.Stats(); s.count() != 2 || st.Loads.Refreshes != 1 || st.Loads.Count != 2 {
			t.Errorf("%d loads, Stats say %d, %d refreshes", s.count(), st.Loads, st.Loads.Refreshes)
		}
	})
}

// The refreshed value of a batch comes from one bulk load.
func TestRefreshAfterMulti(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := harness.OpenSmall(t, func(o *firn.Options) { o.TTL, o.Loading.RefreshAfter = time.Minute, 40*time.Second })
		var b firn.Batch
		get := func(want string, load firn.MultiLoadFunc) {
			t.Helper()
			if err := c.GetOrLoadMulti(t.Context(), &b, keysOf("a b c"), load); err != nil || show(&b) != want {
				t.Errorf("%q, %v: want %q", show(&b), err, want)
			}
			synctest.Wait()
		}
		get("1 1 1", afterAll(0, "1"))
		time.Sleep(50 * time.Second)
		c.Set([]byte("b"), []byte("new"))
		get("1 new 1", afterAll(0, "2"))
		get("2 new 2", nil)
		if n := c.Stats().Loads.Refreshes; n != 2 {
			t.Errorf("%d refreshes, want 2", n)
		}
	})
}

// Values of other lives: one that is shorter than what is left after
// RefreshAfter is not refreshed ahead, a longer one as long before its end as
// others, one without end never.
func TestRefreshAfterOtherTTLs(t *testing.T) {
	for _, x := range []struct {
		ttl, at time.Duration
		loads   int
	}{
		{10 * time.Second, 9 * time.Second, 1},
		{20 * time.Second, 19 * time.Second, 1},
		{21 * time.Second, 0, 1},
		{21 * time.Second, 2 * time.Second, 2},
		{time.Hour, 59 * time.Minute, 1},
		{time.Hour, 59*time.Minute + 41*time.Second, 2},
		{firn.Forever, 1000 * time.Hour, 1},
	} {
		t.Run(fmt.Sprint(x), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := harness.OpenSmall(t, func(o *firn.Options) { o.TTL, o.Loading.RefreshAfter = time.Minute, 40*time.Second })
				time.Sleep(time.Duration(x.loads) * time.Millisecond) // deadlines odd and even
				var loads atomic.Int32
				load := func(ctx context.Context, _ []byte) ([]byte, error) {
					loads.Add(1)
					return []byte("v"), firn.SetLoadTTL(ctx, x.ttl)
				}
				for range 3 { // after a refresh all is as before
					loads.Store(0)
					c.Delete([]byte("k"))
					c.GetOrLoad(t.Context(), nil, []byte("k"), load)
					time.Sleep(x.at)
					c.GetOrLoad(t.Context(), nil, []byte("k"), load)
					synctest.Wait()
					if n := loads.Load(); n != int32(x.loads) {
						t.Errorf("%d loads, want %d", n, x.loads)
					}
					time.Sleep(time.Millisecond)
				}
			})
		})
	}
}

// A refresh loses against every write, its failure leaves the value, and the
// next reader tries again.
func TestRefreshRaces(t *testing.T) {
	k := []byte("k")
	for name, x := range map[string]struct {
		during func(c *firn.Cache) error
		want   string
	}{
		"Set":        {func(c *firn.Cache) error { return c.Set(k, []byte("set")) }, "set"},
		"SetWithTTL": {func(c *firn.Cache) error { return c.SetWithTTL(k, []byte("set"), time.Hour) }, "set"},
		"SetMulti":   {func(c *firn.Cache) error { return c.SetMulti(t.Context(), [][]byte{k}, [][]byte{[]byte("set")}) }, "set"},
		"Delete":     {func(c *firn.Cache) error { return c.Delete(k) }, ""},
		"Clear":      {func(c *firn.Cache) error { return c.Clear(t.Context()) }, ""},
		"Close":      {func(c *firn.Cache) error { return c.Close() }, ""},
		"nothing":    {func(*firn.Cache) error { return nil }, "v2"},
		"expiry":     {func(*firn.Cache) error { time.Sleep(20 * time.Second); return nil }, "v2"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := harness.OpenSmall(t, func(o *firn.Options) {
					o.TTL, o.Loading.RefreshAfter, o.Loading.HardTimeout = time.Minute, 40*time.Second, time.Minute
				})
				s := &source{slow: 30 * time.Second}
				s.expect(t, c, "v1", nil)
				time.Sleep(45 * time.Second)
				s.expect(t, c, "v1", nil)
				synctest.Wait()
				if err := x.during(c); err != nil {
					t.Fatal(err)
				}
				time.Sleep(30 * time.Second)
				synctest.Wait()
				if v, ok := c.Get(nil, k); string(v) != x.want || ok != (x.want != "") {
					t.Errorf("after the refresh: %q, %v: want %q", v, ok, x.want)
				}
				if s.count() != 2 {
					t.Errorf("%d loads, want 2", s.count())
				}
			})
		})
	}
}

// What a background refresh answers: an error leaves the value and the next
// reader after a pause tries again, a panic likewise and is counted, ErrNotFound takes the
// value away.
func TestRefreshFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := harness.OpenSmall(t, func(o *firn.Options) { o.TTL, o.Loading.RefreshAfter = time.Minute, 40*time.Second })
		s := &source{}
		s.expect(t, c, "v1", nil)
		time.Sleep(50 * time.Second)
		s.fail(errors.New("boom"))
		s.expect(t, c, "v1", nil)
		synctest.Wait()
		time.Sleep(time.Second)
		s.expect(t, c, "v1", nil)
		synctest.Wait()
		time.Sleep(time.Second)
		if st := c.Stats(); s.count() != 3 || st.Loads.Errors != 2 {
			t.Errorf("%d loads, %d errors: want 3 and 2", s.count(), st.Loads.Errors)
		}
		v, err := c.GetOrLoad(t.Context(), nil, []byte("k"), func(context.Context, []byte) ([]byte, error) { panic("boom") })
		if err != nil || string(v) != "v1" {
			t.Errorf("%q, %v", v, err)
		}
		synctest.Wait()
		if n := c.Stats().Loads.Panics; n != 1 {
			t.Errorf("%d panics", n)
		}
		time.Sleep(time.Second)
		s.fail(firn.ErrNotFound)
		s.expect(t, c, "v1", nil)
		synctest.Wait()
		if v, ok := c.Get(nil, []byte("k")); ok {
			t.Errorf("the source has no value any more, and the cache says %q", v)
		}
	})
}

// Under MaxLoads a background refresh waits for nothing: it is put off.
func TestRefreshPutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := harness.OpenSmall(t, func(o *firn.Options) {
			o.TTL, o.Loading.RefreshAfter, o.Loading.MaxLoads = time.Minute, 40*time.Second, 1
		})
		s := &source{}
		s.expect(t, c, "v1", nil)
		time.Sleep(50 * time.Second)
		var wg sync.WaitGroup
		wg.Go(func() { c.GetOrLoad(t.Context(), nil, []byte("other"), after(time.Second, "v")) })
		synctest.Wait()
		s.expect(t, c, "v1", nil)
		wg.Wait()
		if n := c.Stats().Loads.RefreshesDeferred; s.count() != 1 || n != 1 {
			t.Errorf("%d loads, %d put off", s.count(), n)
		}
		for want := range 3 { // each refresh gives its turn back
			s.expect(t, c, fmt.Sprint("v", want+1), nil)
			synctest.Wait()
			time.Sleep(50 * time.Second)
		}
	})
}

func TestRefresh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := harness.OpenSmall(t)
		k := []byte("k")
		s := &source{slow: time.Second}
		refresh := func(wantErr error) {
			t.Helper()
			want := "dst"
			if wantErr == nil {
				want += fmt.Sprint("v", s.count()+1)
			}
			if v, err := c.Refresh(t.Context(), []byte("dst"), k, s.load); !errors.Is(err, wantErr) || string(v) != want {
				t.Errorf("Refresh: %q, %v, want %q, %v", v, err, want, wantErr)
			}
		}
		has := func(want string) {
			t.Helper()
			if v, ok := c.Get(nil, k); string(v) != want || ok != (want != "") {
				t.Errorf("Get: %q, %v: want %q", v, ok, want)
			}
		}
		refresh(nil)
		has("v1")
		refresh(nil)
		has("v2")
		boom := errors.New("boom")
		s.fail(boom)
		refresh(boom)
		has("v2")
		s.fail(firn.ErrNotFound)
		refresh(firn.ErrNotFound)
		has("")
		s.fail(nil)

		// Meanwhile the old value is there, and whoever finds none waits for the new.
		c.Set(k, []byte("old"))
		done := make(chan error)
		go func() { done <- harness.Err(c.Refresh(t.Context(), nil, k, s.load)) }()
		synctest.Wait()
		has("old")
		if err := <-done; err != nil {
			t.Error(err)
		}
		has("v5")
		c.Delete(k)
		go func() { done <- harness.Err(c.Refresh(t.Context(), nil, k, s.load)) }()
		synctest.Wait()
		s.expect(t, c, "v6", nil)
		if err := <-done; err != nil || s.count() != 6 {
			t.Errorf("%v, %d loads", err, s.count())
		}
		if n := c.Stats().Loads.Refreshes; n != 6 {
			t.Errorf("%d refreshes, want 6", n)
		}

		ctx, cancel := context.WithTimeout(t.Context(), time.Second/2)
		defer cancel()
		if _, err := c.Refresh(ctx, nil, k, s.load); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Refresh: %v", err)
		}
		has("v6")
	})
}

// The load of a Refresh begins after its call; those that come together share it.
func TestRefreshBeginsAfterTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := harness.OpenSmall(t)
		s := &source{slow: 10 * time.Second}
		var wg sync.WaitGroup
		wg.Go(func() { s.expect(t, c, "v1", nil) })
		time.Sleep(time.Second)
		for range 5 {
			wg.Go(func() {
				start := time.Now()
				if v, err := c.Refresh(t.Context(), nil, []byte("k"), s.load); err != nil || string(v) != "v2" || time.Since(start) != 19*time.Second {
					t.Errorf("%q, %v after %v", v, err, time.Since(start))
				}
			})
		}
		wg.Wait()
		if v, _ := c.Get(nil, []byte("k")); string(v) != "v2" || s.count() != 2 {
			t.Errorf("%q after %d loads", v, s.count())
		}
	})
}
