package loads

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/tests/harness"
)

// A client is one of ten that wait 100 ms for a source that takes 150 ms, one after the
// other: the second gets what the first has begun to load, and the others a hit. With
// CancelUnwanted nobody ever gets anything.
func TestLoadOutlivesItsCallers(t *testing.T) {
	const wait, slow = 100 * time.Millisecond, 150 * time.Millisecond
	k := []byte("k")
	calls := map[string]func(ctx context.Context, c *firn.Cache, began func()) (string, error){
		"GetOrLoad": func(ctx context.Context, c *firn.Cache, began func()) (string, error) {
			v, err := c.GetOrLoad(ctx, nil, k, func(ctx context.Context, _ []byte) ([]byte, error) {
				began()
				return afterOrEnd(ctx, slow)
			})
			return string(v), err
		},
		"GetOrLoadMulti": func(ctx context.Context, c *firn.Cache, began func()) (string, error) {
			var b firn.Batch
			err := c.GetOrLoadMulti(ctx, &b, keysOf("k l"), func(ctx context.Context, keys [][]byte) ([][]byte, error) {
				began()
				v, err := afterOrEnd(ctx, slow)
				return slices.Repeat([][]byte{v}, len(keys)), err
			})
			v, _ := b.Value(1)
			return string(v), err
		},
		"Typed.GetOrLoad": func(ctx context.Context, c *firn.Cache, began func()) (string, error) {
			texts, err := firn.NewTyped(c, "texts", firn.TypedOptions[int, string]{})
			if err != nil {
				return "", err
			}
			return texts.GetOrLoad(ctx, 1, func(ctx context.Context, _ int) (string, error) {
				began()
				v, err := afterOrEnd(ctx, slow)
				return string(v), err
			})
		},
	}
	for name, call := range calls {
		for _, cancel := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, CancelUnwanted %v", name, cancel), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c := harness.OpenSmall(t, func(o *firn.Options) { o.Loading.CancelUnwanted = cancel })
					loads, answers := 0, 0
					for range 10 {
						ctx, leave := context.WithTimeout(t.Context(), wait)
						v, err := call(ctx, c, func() { loads++ })
						switch {
						case err == nil && v == "v":
							answers++
						case !errors.Is(err, context.DeadlineExceeded):
							t.Errorf("%q, %v", v, err)
						}
						leave()
						synctest.Wait()
					}
					wantLoads, wantAnswers := 1, 9
					if cancel {
						wantLoads, wantAnswers = 10, 0
					}
					if loads != wantLoads || answers != wantAnswers {
						t.Errorf("%d loads, %d answers: want %d and %d", loads, answers, wantLoads, wantAnswers)
					}
				})
			})
		}
	}
}

// afterOrEnd is a source that takes its time, and stops when nobody wants it.
func afterOrEnd(ctx context.Context, d time.Duration) ([]byte, error) {
	select {
	case <-time.After(d):
		return []byte("v"), nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// A load that nobody waits for ends as others: with a write of its key, which is when
// nobody wants its value, with Close, and at the hard timeout.
func TestLoadWithoutCallersEnds(t *testing.T) {
	k := []byte("k")
	for name, x := range map[string]struct {
		end   func(c *firn.Cache) error
		after time.Duration // from the load's beginning; the caller leaves after a second
		cause error
	}{
		"Set":         {func(c *firn.Cache) error { return c.Set(k, []byte("set")) }, time.Second, context.Canceled},
		"Delete":      {func(c *firn.Cache) error { return c.Delete(k) }, time.Second, context.Canceled},
		"Clear":       {func(c *firn.Cache) error { return c.Clear(t.Context()) }, time.Second, context.Canceled},
		"Close":       {func(c *firn.Cache) error { return c.Close() }, time.Second, firn.ErrClosed},
		"HardTimeout": {func(*firn.Cache) error { time.Sleep(time.Hour); return nil }, 30 * time.Second, firn.ErrLoadTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := harness.OpenSmall(t)
				began := time.Now()
				type end struct {
					cause error
					after time.Duration
				}
				told := make(chan end, 1)
				ctx, leave := context.WithTimeout(t.Context(), time.Second)
				defer leave()
				_, err := c.GetOrLoad(ctx, nil, k, func(ctx context.Context, _ []byte) ([]byte, error) {
					<-ctx.Done()
					told <- end{context.Cause(ctx), time.Since(began)}
					return []byte("too late"), nil
				})
				if !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("the caller: %v", err)
				}
				synctest.Wait()
				if len(told) > 0 {
					t.Fatalf("the loader was told to stop: %v", <-told)
				}
				if err := x.end(c); err != nil {
					t.Fatal(err)
				}
				if got := <-told; !errors.Is(got.cause, x.cause) || got.after != x.after {
					t.Errorf("the loader was told %v after %v: want %v after %v", got.cause, got.after, x.cause, x.after)
				}
				synctest.Wait()
				if v, _ := c.Get(nil, k); string(v) == "too late" {
					t.Error("its value is stored")
				}
				if n := c.Stats().Loads.Active; n != 0 {
					t.Errorf("%d loads are under way", n)
				}
			})
		})
	}
}

// By default a loader has half a minute; with Forever as long as it likes.
func TestHardTimeoutByDefault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := []byte("k")
		begin, c := time.Now(), harness.OpenSmall(t)
		deadlines := make(chan time.Time, 1)
		_, err := c.GetOrLoad(t.Context(), nil, k, func(ctx context.Context, _ []byte) ([]byte, error) {
			deadline, _ := ctx.Deadline()
			deadlines <- deadline
			return after(time.Hour, "too late")(ctx, nil)
		})
		deadline := <-deadlines
		if took := time.Since(begin); !errors.Is(err, firn.ErrLoadTimeout) || took != 30*time.Second || !deadline.Equal(begin.Add(took)) {
			t.Errorf("%v after %v, the loader's deadline after %v: want 30s", err, took, deadline.Sub(begin))
		}
		if want := "firn: load timed out: it took longer than Options.Loading.HardTimeout, 30s"; fmt.Sprint(err) != want {
			t.Errorf("%q, want %q", err, want)
		}
		c = harness.OpenSmall(t, func(o *firn.Options) { o.Loading.HardTimeout = firn.Forever })
		v, err := c.GetOrLoad(t.Context(), nil, k, func(ctx context.Context, _ []byte) ([]byte, error) {
			if d, ok := ctx.Deadline(); ok {
				t.Errorf("Forever ends at %v", d)
			}
			return after(time.Hour, "v")(ctx, nil)
		})
		if err != nil || string(v) != "v" {
			t.Errorf("%q, %v", v, err)
		}
	})
}

// The value of a Refresh whose caller has left is stored.
func TestRefreshOutlivesItsCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := harness.OpenSmall(t)
		ctx, leave := context.WithTimeout(t.Context(), time.Second)
		defer leave()
		if _, err := c.Refresh(ctx, nil, []byte("k"), after(2*time.Second, "new")); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if v, ok := c.Get(nil, []byte("k")); !ok || string(v) != "new" {
			t.Errorf("%q, %v", v, ok)
		}
	})
}

// A panic of a load that nobody waits for any more is logged; of one that somebody waits
// for it is that caller's.
func TestPanicOfUnwantedLoadIsLogged(t *testing.T) {
	for name, stay := range map[string]bool{"left": false, "stayed": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var lines strings.Builder
				c := harness.OpenSmall(t, func(o *firn.Options) { o.Log = slog.New(slog.NewTextHandler(&lines, nil)) })
				ctx, cancel := context.WithCancel(t.Context())
				done, release := make(chan any), make(chan struct{})
				go func() {
					defer func() { done <- recover() }()
					c.GetOrLoad(ctx, nil, []byte("k"), func(context.Context, []byte) ([]byte, error) {
						<-release
						panic("boom")
					})
				}()
				synctest.Wait()
				if !stay {
					cancel()
					<-done
				}
				close(release)
				if stay && <-done == nil {
					t.Error("the caller who waited got no panic")
				}
				synctest.Wait()
				cancel()
				if logged := strings.Contains(lines.String(), "boom") && strings.Contains(lines.String(), "outlives_test.go"); logged == stay {
					t.Errorf("logged %q", lines.String())
				}
				if n := c.Stats().Loads.Panics; n != 1 {
					t.Errorf("%d panics counted, want 1", n)
				}
			})
		})
	}
}

// A batch of which the context ends has what other loads had fetched by then.
func TestBatchHasWhatWasThere(t *testing.T) {
	t.Parallel()
	for range 20 { // chance may hide it
		synctest.Test(t, func(t *testing.T) {
			c := harness.OpenSmall(t)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			go func() {
				var b firn.Batch
				_ = c.GetOrLoadMulti(context.Background(), &b, keysOf("slow"), afterAll(time.Minute, "v"))
			}()
			synctest.Wait()
			var b firn.Batch
			err := c.GetOrLoadMulti(ctx, &b, keysOf("slow fast"), afterAll(time.Millisecond, "v"))
			if _, ok := b.Value(1); !ok || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%v, and the value was there: %v", err, ok)
			}
			time.Sleep(time.Minute) // of the bubble: the slow one ends
		})
	}
}
