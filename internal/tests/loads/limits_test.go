package loads

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/tests/harness"
)

// after is a loader that returns v after a while, whatever its context does.
func after(d time.Duration, v string) firn.LoadFunc {
	return func(context.Context, []byte) ([]byte, error) {
		time.Sleep(d)
		return []byte(v), nil
	}
}

// The hard timeout ends a load also if the loader does not listen, and what it
// returns later is dropped.
func TestHardTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := harness.OpenSmall(t, func(o *firn.Options) { o.Loading.HardTimeout = time.Second })
		start := time.Now()
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				v, err := c.GetOrLoad(t.Context(), []byte("dst"), []byte("k"), func(ctx context.Context, _ []byte) ([]byte, error) {
					<-ctx.Done()
					if cause := context.Cause(ctx); !errors.Is(cause, firn.ErrLoadTimeout) {
						t.Errorf("the loader's context ended with %v", cause)
					}
					time.Sleep(time.Second)
					return []byte("too late"), nil
				})
				if !errors.Is(err, firn.ErrLoadTimeout) || string(v) != "dst" || time.Since(start) != time.Second {
					t.Errorf("%q, %v after %v", v, err, time.Since(start))
				}
			})
		}
		wg.Wait()
		if v, err := c.GetOrLoad(t.Context(), nil, []byte("k"), harness.Value("new")); err != nil || string(v) != "new" {
			t.Errorf("the next load: %q, %v", v, err)
		}
		time.Sleep(time.Hour)
		if v, _ := c.Get(nil, []byte("k")); string(v) != "new" {
			t.Errorf("afterwards: %q", v)
		}
		if s := c.Stats(); s.Loads.Count != 2 || s.Loads.Timeouts != 1 || s.Loads.Errors != 0 || s.Loads.Active != 0 {
			t.Errorf("%d loads, %d timeouts, %d errors, %d active", s.Loads, s.Loads.Timeouts, s.Loads.Errors, s.Loads.Active)
		}
	})
}

// Each of several loads ends after its own time, whatever else begins or ends meanwhile.
func TestHardTimeoutOfEach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := harness.OpenSmall(t, func(o *firn.Options) { o.Loading.HardTimeout = 30 * time.Second })
		start := time.Now()
		var wg sync.WaitGroup
		for i, began := range []time.Duration{0, 0, 10 * time.Second, 25 * time.Second, 30 * time.Second, 35 * time.Second, 200 * time.Second} {
			wg.Go(func() {
				time.Sleep(began)
				takes := time.Hour
				if i%3 == 0 { // the first of all, too
					takes = 20 * time.Second
				}
				v, err := c.GetOrLoad(t.Context(), nil, fmt.Append(nil, i), after(takes, "v"))
				want, late := 20*time.Second, i%3 != 0
				if late {
					want = 30 * time.Second
				}
				if took := time.Since(start) - began; took != want || errors.Is(err, firn.ErrLoadTimeout) != late || !late && string(v) != "v" {
					t.Errorf("%d: %q, %v after %v", i, v, err, took)
				}
			})
		}
		wg.Wait()
		time.Sleep(2 * time.Hour)
	})
}

// What a loader returns after the hard timeout is dropped, also if nobody has
// loaded or written the key since.
func TestHardTimeoutDropsWhatIsLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := harness.OpenSmall(t, func(o *firn.Options) { o.Loading.HardTimeout = time.Second })
		k := []byte("k")
		if _, err := c.GetOrLoad(t.Context(), nil, k, after(time.Minute, "too late")); !errors.Is(err, firn.ErrLoadTimeout) {
			t.Error(err)
		}
		time.Sleep(time.Hour)
		if v, ok := c.Get(nil, k); ok {
			t.Errorf("%q was stored", v)
		}
	})
}

// Close answers those who wait also if the loader does not listen.
func TestCloseDoesNotWaitForLoaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := harness.OpenSmall(t, func(o *firn.Options) { o.Loading.MaxLoads = 1 })
		start := time.Now()
		var wg sync.WaitGroup
		for i := range 3 { // one runs, the others wait for their turn
			wg.Go(func() {
				_, err := c.GetOrLoad(t.Context(), nil, fmt.Append(nil, i), after(time.Hour, "v"))
				if err != firn.ErrClosed || time.Since(start) != time.Second {
					t.Errorf("%v after %v", err, time.Since(start))
				}
			})
		}
		wg.Go(func() {
			var b firn.Batch
			err := c.GetOrLoadMulti(t.Context(), &b, [][]byte{[]byte("a"), []byte("b")}, afterAll(time.Hour, "v"))
			if err != firn.ErrClosed || time.Since(start) != time.Second {
				t.Errorf("%v after %v", err, time.Since(start))
			}
		})
		time.Sleep(time.Second)
		c.Close()
		wg.Wait()
		if _, err := c.Refresh(t.Context(), nil, []byte("k"), harness.Value("v")); err != firn.ErrClosed {
			t.Errorf("Refresh: %v", err)
		}
		time.Sleep(time.Hour) // a test must not leave goroutines behind, even if Close may
	})
}

func TestMaxLoads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := harness.OpenSmall(t, func(o *firn.Options) { o.Loading.MaxLoads = 3 })
		var mu sync.Mutex
		running, most := 0, 0
		enter := func(n int) {
			mu.Lock()
			defer mu.Unlock()
			running += n
			most = max(most, running)
		}
		start := time.Now()
		var wg sync.WaitGroup
		for i := range 12 {
			wg.Go(func() {
				v, err := c.GetOrLoad(t.Context(), nil, fmt.Append(nil, i), func(context.Context, []byte) ([]byte, error) {
					enter(1)
					defer enter(-1)
					time.Sleep(time.Second)
					return []byte("v"), nil
				})
				if err != nil || string(v) != "v" {
					t.Errorf("%q, %v", v, err)
				}
			})
		}
		wg.Wait()
		if most != 3 || time.Since(start) != 4*time.Second {
			t.Errorf("%d at a time, %v in all: want 3 and 4s", most, time.Since(start))
		}
	})
}

// Who waits for its turn can leave, and its loader is never called.
func TestMaxLoadsLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := harness.OpenSmall(t, func(o *firn.Options) { o.Loading.MaxLoads = 1 })
		var wg sync.WaitGroup
		wg.Go(func() { c.GetOrLoad(t.Context(), nil, []byte("slow"), after(time.Minute, "v")) })
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := c.GetOrLoad(ctx, nil, []byte("k"), func(context.Context, []byte) ([]byte, error) {
			t.Error("the loader was called")
			return nil, nil
		})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		wg.Wait()
		if v, err := c.GetOrLoad(t.Context(), nil, []byte("k"), harness.Value("v")); err != nil || string(v) != "v" {
			t.Errorf("afterwards: %q, %v", v, err)
		}
	})
}

// Loaders that load through the same cache do not wait for their own turn: not
// if they begin the inner load, and not if that waits for its turn already.
func TestMaxLoadsNested(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := harness.OpenSmall(t, func(o *firn.Options) { o.Loading.MaxLoads = 1 })
		var wg sync.WaitGroup
		get := func(key string, load firn.LoadFunc) {
			wg.Go(func() {
				if v, err := c.GetOrLoad(t.Context(), nil, []byte(key), load); err != nil || string(v) != key {
					t.Errorf("%s: %q, %v", key, v, err)
				}
			})
			synctest.Wait()
		}
		get("outer", func(ctx context.Context, _ []byte) ([]byte, error) {
			if _, err := c.GetOrLoad(ctx, nil, []byte("inner"), harness.Value("inner")); err != nil {
				return nil, err
			}
			time.Sleep(time.Second)
			if _, err := c.GetOrLoad(ctx, nil, []byte("queued"), nil); err != nil {
				return nil, err
			}
			return []byte("outer"), nil
		})
		get("queued", harness.Value("queued"))
		wg.Wait()
		if !c.Has([]byte("inner")) {
			t.Error("the inner value is not there")
		}
	})
}

// panicking is a context of the user's own.
type panicking struct{ context.Context }

func (panicking) Value(any) any { panic("a context") }

// A refresh ahead that does not come to begin, as its caller's context panics, takes no slot.
func TestMaxLoadsContextPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := harness.OpenSmall(t, func(o *firn.Options) {
			o.Clock, o.TTL, o.Loading = time.Now, time.Hour, firn.LoadingOptions{RefreshAfter: time.Minute, MaxLoads: 1}
		})
		harness.Set(t, c, []byte("k"), []byte("v"))
		time.Sleep(2 * time.Minute)
		func() {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			c.GetOrLoad(panicking{t.Context()}, nil, []byte("k"), harness.Value("new"))
		}()
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if v, err := c.GetOrLoad(short, nil, []byte("other"), harness.Value("v")); string(v) != "v" || err != nil {
			t.Errorf("%q, %v", v, err)
		}
	})
}

// A panic gives the turn back.
func TestMaxLoadsPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := harness.OpenSmall(t, func(o *firn.Options) { o.Loading.MaxLoads = 1 })
		func() {
			defer func() { recover() }()
			c.GetOrLoad(t.Context(), nil, []byte("k"), func(context.Context, []byte) ([]byte, error) { panic("boom") })
		}()
		if v, err := c.GetOrLoad(t.Context(), nil, []byte("k"), harness.Value("v")); err != nil || string(v) != "v" {
			t.Errorf("%q, %v", v, err)
		}
		if n := c.Stats().Loads.Panics; n != 1 {
			t.Errorf("%d panics counted", n)
		}
	})
}
