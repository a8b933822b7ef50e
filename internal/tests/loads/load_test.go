package loads

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/cachetest"
	"github.com/firncache/firn/internal/tests/harness"
)

func TestLoadOncePerKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := harness.OpenSmall(t)
		var calls atomic.Int32
		release := make(chan struct{})
		load := func(ctx context.Context, key []byte) ([]byte, error) {
			calls.Add(1)
			<-release
			return append([]byte("value of "), key...), nil
		}
		var wg sync.WaitGroup
		for range 1000 {
			wg.Go(func() {
				v, err := c.GetOrLoad(context.Background(), []byte("> "), []byte("k"), load)
				if err != nil || string(v) != "> value of k" {
					t.Errorf("got %q, %v", v, err)
				}
			})
		}
		synctest.Wait()
		close(release)
		wg.Wait()
		if calls.Load() != 1 {
			t.Errorf("%d loads, want 1", calls.Load())
		}
		if v, ok := c.Get(nil, []byte("k")); !ok || string(v) != "value of k" {
			t.Errorf("not stored: %q, %v", v, ok)
		}
	})
}

// However the callers and the end of a load fall together, a key is loaded once,
// and a value that is due refreshed no more than once: who comes late finds what
// is there. (A refresh that would have to wait is left to later callers.)
func TestLoadOnceWhenItIsQuick(t *testing.T) {
	const keys, callers = 1000, 8
	clock := &cachetest.Clock{}
	c := harness.OpenSmall(t, func(o *firn.Options) { o.Clock, o.TTL, o.Loading.RefreshAfter = clock.Now, time.Minute, 30*time.Second })
	var loads [keys]atomic.Int32
	call := func() {
		var wg sync.WaitGroup
		for range callers {
			wg.Go(func() {
				for i := range keys {
					_, err := c.GetOrLoad(context.Background(), nil, fmt.Append(nil, i), func(context.Context, []byte) ([]byte, error) {
						loads[i].Add(1)
						return []byte("v"), nil
					})
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
	}
	for _, what := range []string{"missing", "due"} {
		call()
		for c.Stats().Loads.Active > 0 { // refreshes in the background
			time.Sleep(time.Millisecond)
		}
		for i := range keys {
			if n := loads[i].Swap(0); n > 1 || n == 0 && what == "missing" {
				t.Errorf("key %d, %s: %d loads, want 1", i, what, n)
			}
		}
		clock.Advance(40 * time.Second)
	}
}

// A waiter leaves with its own context; the load goes on for the other.
func TestLoadWaiterLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := harness.OpenSmall(t)
		load := func(ctx context.Context, key []byte) ([]byte, error) {
			select {
			case <-time.After(10 * time.Second):
				return []byte("v"), nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		first, cancelFirst := context.WithTimeout(context.Background(), time.Second)
		defer cancelFirst()
		var wg sync.WaitGroup
		wg.Go(func() {
			start := time.Now()
			v, err := c.GetOrLoad(first, []byte("mine"), []byte("k"), load)
			if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Second || string(v) != "mine" {
				t.Errorf("first caller: %q, %v after %v", v, err, time.Since(start))
			}
		})
		wg.Go(func() {
			time.Sleep(time.Millisecond)
			v, err := c.GetOrLoad(context.Background(), nil, []byte("k"), load)
			if err != nil || string(v) != "v" {
				t.Errorf("second caller: %q, %v", v, err)
			}
		})
		wg.Wait()
	})
}

func TestLoadCancelledWhenAllLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := harness.OpenSmall(t, func(o *firn.Options) { o.Loading.CancelUnwanted = true })
		began, cancelled := time.Now(), make(chan struct{})
		load := func(ctx context.Context, key []byte) ([]byte, error) {
			<-ctx.Done()
			if took := time.Since(began); took != 3*time.Second {
				t.Errorf("cancelled after %v, want 3s: when the last caller leaves", took)
			}
			close(cancelled)
			return []byte("too late"), nil
		}
		var wg sync.WaitGroup
		for i := range 3 {
			wg.Go(func() {
				ctx, cancel := context.WithTimeout(context.Background(), time.Duration(i+1)*time.Second)
				defer cancel()
				if _, err := c.GetOrLoad(ctx, nil, []byte("k"), load); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("caller %d: %v", i, err)
				}
			})
		}
		wg.Wait()
		<-cancelled
		synctest.Wait()
		if c.Has([]byte("k")) {
			t.Error("the value of a cancelled load was stored")
		}
		v, err := c.GetOrLoad(context.Background(), nil, []byte("k"), func(context.Context, []byte) ([]byte, error) { return []byte("new"), nil })
		if err != nil || string(v) != "new" {
			t.Errorf("the next load: %q, %v", v, err)
		}
	})
}

// Each write that begins during a load wins over it, and whoever asks after the
// write does not get the old value.
func TestLoadLosesAgainstWrites(t *testing.T) {
	writes := map[string]struct {
		write func(c *firn.Cache) error
		want  string
	}{
		"Set":        {func(c *firn.Cache) error { return c.Set([]byte("k"), []byte("set")) }, "set"},
		"SetWithTTL": {func(c *firn.Cache) error { return c.SetWithTTL([]byte("k"), []byte("set"), time.Hour) }, "set"},
		"SetMulti": {func(c *firn.Cache) error {
			return c.SetMulti(t.Context(), [][]byte{[]byte("k")}, [][]byte{[]byte("set")})
		}, "set"},
		"Delete": {func(c *firn.Cache) error { return c.Delete([]byte("k")) }, ""},
		"Clear":  {func(c *firn.Cache) error { return c.Clear(t.Context()) }, ""},
	}
	for name, w := range writes {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := harness.OpenSmall(t)
				release := make(chan struct{})
				done := make(chan struct{})
				go func() {
					defer close(done)
					v, err := c.GetOrLoad(context.Background(), nil, []byte("k"), func(context.Context, []byte) ([]byte, error) {
						<-release
						return []byte("old"), nil
					})
					if err != nil || string(v) != "old" {
						t.Errorf("the caller from before: %q, %v", v, err)
					}
				}()
				synctest.Wait()
				if err := w.write(c); err != nil {
					t.Fatal(err)
				}
				want := w.want
				if want == "" {
					want = "new"
				}
				v, err := c.GetOrLoad(context.Background(), nil, []byte("k"), func(context.Context, []byte) ([]byte, error) {
					return []byte("new"), nil
				})
				if err != nil || string(v) != want {
					t.Errorf("a caller from after: %q, %v, want %q", v, err, want)
				}
				close(release)
				<-done
				if v, ok := c.Get(nil, []byte("k")); !ok || string(v) != want {
					t.Errorf("afterwards: %q, %v, want %q", v, ok, want)
				}
			})
		})
	}
}

// Who asks after a write does not join a load from before it, also if what was
// written has gone since; and what that load brings is not stored.
func TestLoadFromBeforeIsNotJoined(t *testing.T) {
	k := []byte("k")
	for name, write := range map[string]func(c *firn.Cache) error{
		"Set":        func(c *firn.Cache) error { return c.Set(k, []byte("set")) },
		"SetWithTTL": func(c *firn.Cache) error { return c.SetWithTTL(k, []byte("set"), time.Second) },
		"SetMulti":   func(c *firn.Cache) error { return c.SetMulti(t.Context(), [][]byte{k}, [][]byte{[]byte("set")}) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := harness.OpenSmall(t, func(o *firn.Options) { o.TTL = time.Second })
				go c.GetOrLoad(t.Context(), nil, k, after(time.Minute, "old"))
				synctest.Wait()
				if err := write(c); err != nil {
					t.Fatal(err)
				}
				time.Sleep(10 * time.Second)
				if c.Has(k) {
					t.Fatal("it has not expired: the test shows nothing")
				}
				if v, err := c.GetOrLoad(t.Context(), nil, k, harness.Value("new")); err != nil || string(v) != "new" {
					t.Errorf("%q, %v: want the value of a new load", v, err)
				}
				time.Sleep(50 * time.Second)
				synctest.Wait()
				if v, ok := c.Get(nil, k); ok {
					t.Errorf("the old load has stored %q", v)
				}
			})
		})
	}
}

func TestLoadErrors(t *testing.T) {
	c := harness.OpenSmall(t)
	boom := errors.New("boom")
	for _, want := range []error{boom, firn.ErrNotFound, context.Canceled} {
		v, err := c.GetOrLoad(context.Background(), []byte("dst"), []byte("k"), func(context.Context, []byte) ([]byte, error) {
			return []byte("not to be used"), want
		})
		if err != want || string(v) != "dst" || c.Has([]byte("k")) {
			t.Errorf("%v: got %q, %v", want, v, err)
		}
	}
	big := make([]byte, 1<<19)
	v, err := c.GetOrLoad(context.Background(), nil, []byte("k"), func(context.Context, []byte) ([]byte, error) { return big, nil })
	if err != nil || len(v) != len(big) {
		t.Errorf("too large: %d bytes, %v", len(v), err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := c.GetOrLoad(ctx, nil, []byte("k"), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("context over before the load: %v", err)
	}
}

func TestLoadPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := harness.OpenSmall(t)
		boom := errors.New("boom")
		var wg sync.WaitGroup
		var panics atomic.Int32
		for range 10 {
			wg.Go(func() {
				defer func() {
					err, _ := recover().(error)
					if !errors.Is(err, boom) || !strings.Contains(fmt.Sprint(err), "load_test.go") {
						t.Errorf("recovered %v", err)
					}
					panics.Add(1)
				}()
				c.GetOrLoad(context.Background(), nil, []byte("k"), func(context.Context, []byte) ([]byte, error) {
					time.Sleep(time.Second)
					panic(boom)
				})
			})
		}
		wg.Wait()
		if panics.Load() != 10 {
			t.Errorf("%d panics, want 10", panics.Load())
		}
		v, err := c.GetOrLoad(context.Background(), nil, []byte("k"), func(context.Context, []byte) ([]byte, error) { return []byte("v"), nil })
		if err != nil || string(v) != "v" {
			t.Errorf("after the panic: %q, %v", v, err)
		}
	})
}

func TestLoadEndsWithClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := harness.OpenSmall(t)
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, err := c.GetOrLoad(context.Background(), nil, []byte("k"), func(ctx context.Context, _ []byte) ([]byte, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			})
			if !errors.Is(err, firn.ErrClosed) {
				t.Errorf("a caller during Close: %v", err)
			}
		}()
		synctest.Wait()
		c.Close()
		<-done
		if _, err := c.GetOrLoad(context.Background(), nil, []byte("k"), nil); !errors.Is(err, firn.ErrClosed) {
			t.Errorf("a caller after Close: %v", err)
		}
	})
}

// The value that a load stores may push others out: the callback runs outside
// the locks, and may use the cache.
func TestLoadEvictsWithCallback(t *testing.T) {
	var c *firn.Cache
	var called atomic.Int64 // each load reports in its own goroutine
	c = harness.OpenSmall(t, func(o *firn.Options) {
		o.OnEvict = func(key, value []byte, cause firn.Cause) {
			called.Add(1)
			c.Delete([]byte("anything"))
			c.Has(key)
		}
	})
	for i := range 3000 {
		_, err := c.GetOrLoad(context.Background(), nil, fmt.Append(nil, i), func(context.Context, []byte) ([]byte, error) {
			return make([]byte, 1000), nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if called.Load() == 0 {
		t.Error("nothing was evicted")
	}
}
