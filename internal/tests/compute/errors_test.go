package compute

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/tests/harness"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// Errors come as they are, and change nothing.
func TestComputeErrors(t *testing.T) {
	t.Parallel()
	harness.SkipUnderRace(t)
	background := context.Background()
	ended, end := context.WithCancel(background)
	end()
	never := func([]byte, bool) ([]byte, firn.Op) { panic("called") }
	returns := func(value []byte, op firn.Op) func([]byte, bool) ([]byte, firn.Op) {
		return func([]byte, bool) ([]byte, firn.Op) { return value, op }
	}
	for name, x := range map[string]struct {
		call func(w *computing) error
		want string
		is   error
	}{
		"a context that has ended": {func(w *computing) error { return w.c.Compute(ended, w.key, never) }, "canceled", context.Canceled},
		"one that ends during a conflict": {func(w *computing) error {
			ctx, cancel := context.WithCancelCause(background)
			return w.c.Compute(ctx, w.key, func([]byte, bool) ([]byte, firn.Op) {
				harness.Must(w, w.c.Set(w.key, []byte("old")))
				cancel(nil)
				return nil, firn.OpDelete
			})
		}, "canceled", context.Canceled},
		"too large": {func(w *computing) error {
			return w.c.Compute(background, w.key, returns(make([]byte, 1<<20), firn.OpSet))
		}, "too large", firn.ErrTooLarge},
		"SetIfAbsent": {func(w *computing) error {
			return harness.Err(w.c.SetIfAbsent(background, []byte("x"), make([]byte, 1<<20)))
		}, "too large", firn.ErrTooLarge},
		"CompareAndSwap": {func(w *computing) error {
			return harness.Err(w.c.CompareAndSwap(background, w.key, []byte("old"), make([]byte, 1<<20)))
		}, "too large", firn.ErrTooLarge},
		"no time to live": {func(w *computing) error { return w.c.Compute(background, w.key, returns(nil, firn.OpSetTTL(0))) }, "is 0s: want 1ms to", nil},
		"a negative one":  {func(w *computing) error { return w.c.Compute(background, w.key, returns(nil, firn.OpSetTTL(-1))) }, "is -1ns: want", nil},
		"the most negative": {func(w *computing) error {
			return w.c.Compute(background, w.key, returns(nil, firn.OpSetTTL(math.MinInt64)))
		}, "want 1ms to", nil},
		"one that is too long": {func(w *computing) error {
			return w.c.Compute(background, w.key, returns(nil, firn.OpSetTTL(math.MaxInt64-1)))
		}, "or firn.Forever", nil},
		"Increment of three bytes": {func(w *computing) error { return harness.Err(w.c.Increment(background, w.key, 1)) }, `Increment of "key": the value has 3 bytes: want 8`, nil},
		"Increment beyond":         {func(w *computing) error { return overflow(w, math.MaxInt64, 1) }, "the value is 9223372036854775807: want a sum that fits", nil},
		"Increment below":          {func(w *computing) error { return overflow(w, math.MinInt64, -1) }, "the value is -9223372036854775808: want a sum that fits", nil},
		"nothing to delete":        {func(w *computing) error { return harness.Err(w.c.GetAndDelete(background, nil, []byte("x"))) }, "not found", firn.ErrNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			onTiers(t, func(w *computing) {
				harness.Must(t, w.c.Set(w.key, []byte("old")))
				w.settle()
				if err := x.call(w); err == nil || x.is != nil && !errors.Is(err, x.is) || !strings.Contains(err.Error(), x.want) {
					w.Errorf("%v: want %q", err, x.want)
				}
				w.holds("old", time.Minute)
			})
		})
	}
}

// overflow is the error of the second of two Increments; the first one's sum stays.
func overflow(w *computing, first, second int64) error {
	key := []byte("number")
	if n, err := w.c.Increment(context.Background(), key, first); n != first || err != nil {
		w.Errorf("%d, %v: want %d", n, err, first)
	}
	_, err := w.c.Increment(context.Background(), key, second)
	if n, err := w.c.Increment(context.Background(), key, 0); n != first || err != nil {
		w.Errorf("after it %d, %v: want %d", n, err, first)
	}
	return err
}

// An Increment that fails before it has looked has no sum, as any other that fails.
func TestFailedIncrementHasNoSum(t *testing.T) {
	t.Parallel()
	c := harness.OpenSmall(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if sum, err := c.Increment(ctx, []byte("key"), 7); sum != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("%d, %v: want 0 and that the context has ended", sum, err)
	}
}

// A cache that is closed, before the call or while the function runs.
func TestComputeClosed(t *testing.T) {
	t.Parallel()
	onTiers(t, func(w *computing) {
		harness.Must(t, w.c.Set(w.key, []byte("old")))
		w.settle()
		calls := 0
		err := w.c.Compute(context.Background(), w.key, func([]byte, bool) ([]byte, firn.Op) {
			calls++
			harness.Must(t, w.c.Close())
			return nil, firn.OpSet
		})
		if calls != 1 || !errors.Is(err, firn.ErrClosed) {
			w.Errorf("closed meanwhile: %d calls, %v", calls, err)
		}
		for _, x := range computeCalls {
			if err := x.call(w, func() { w.Error("the function was called") }); !errors.Is(err, firn.ErrClosed) {
				w.Errorf("%s of a closed cache: %v", x.name, err)
			}
		}
	})
}

// computeCalls are all that is made of Compute. The one that has a function calls called in
// it.
var computeCalls = []struct {
	name string
	call func(w *computing, called func()) error
}{
	{"Compute", func(w *computing, called func()) error {
		return w.c.Compute(context.Background(), w.key, func([]byte, bool) ([]byte, firn.Op) { called(); return nil, firn.OpSet })
	}},
	{"SetIfAbsent", func(w *computing, _ func()) error {
		return harness.Err(w.c.SetIfAbsent(context.Background(), w.key, nil))
	}},
	{"CompareAndSwap", func(w *computing, _ func()) error {
		return harness.Err(w.c.CompareAndSwap(context.Background(), w.key, nil, nil))
	}},
	{"Increment", func(w *computing, _ func()) error { return harness.Err(w.c.Increment(context.Background(), w.key, 1)) }},
	{"GetAndDelete", func(w *computing, _ func()) error {
		return harness.Err(w.c.GetAndDelete(context.Background(), nil, w.key))
	}},
}

// A disk that gives an error, or nothing, does not make an entry absent: every call returns
// the error and leaves the entry.
func TestComputeDiskFails(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		rule vfstest.Rule
		want error
	}{
		"it fails":   {vfstest.Rule{Err: syscall.EIO, Times: 1}, syscall.EIO},
		"it hangs":   {vfstest.Rule{Block: true}, firn.ErrSSDTimeout},
		"it is late": {vfstest.Rule{Delay: 10 * time.Second}, firn.ErrSSDTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, call := range computeCalls {
				synctest.Test(t, func(t *testing.T) {
					w := &computing{T: t, disk: vfstest.NewFaulty(vfstest.NewMem()), key: []byte("key")}
					var err error
					w.c, err = firn.Open(firn.Options{RAMBytes: computeRAM, Clock: time.Now, SSD: harness.With(harness.On(firn.SSDOptions{
						Bytes: 16 << 20, SegmentBytes: 64 << 10, Admission: firn.AdmitAll, ReadTimeout: time.Second}, w.disk), harness.Patiently)})
					harness.Must(t, err)
					harness.Must(t, w.c.Set(w.key, []byte("12345678")))
					w.settle()
					x.rule.On, x.rule.Name = vfstest.OpRead, "log"
					in := w.disk.Inject(x.rule)
					if err := call.call(w, func() { t.Error("the function was called") }); !errors.Is(err, x.want) {
						t.Errorf("%s: %v, want %v", call.name, err, x.want)
					}
					in.Remove()
					time.Sleep(time.Minute) // of the bubble: until the disk answers again
					w.holds("12345678", firn.Forever)
					harness.Must(t, w.c.Close())
				})
			}
		})
	}
}

// A value within its grace, and a remembered ErrNotFound, are absent; what is stored takes
// their place, and GetAndDelete removes them.
func TestComputeOfStaleAndNegative(t *testing.T) {
	t.Parallel()
	for _, del := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			ctx := context.Background()
			c := harness.OpenSmall(t, func(o *firn.Options) {
				o.TTL, o.Loading.StaleWhileRevalidate, o.Loading.NegativeTTL = time.Minute, time.Hour, time.Hour
			})
			loads := 0
			load := func(context.Context, []byte) ([]byte, error) { loads++; return nil, firn.ErrNotFound }
			harness.Must(t, c.Set([]byte("stale"), []byte("old")))
			if _, err := c.GetOrLoad(ctx, nil, []byte("negative"), load); !errors.Is(err, firn.ErrNotFound) {
				t.Fatal(err)
			}
			time.Sleep(2 * time.Minute)
			for _, name := range []string{"stale", "negative"} {
				key := []byte(name)
				if del {
					if v, err := c.GetAndDelete(ctx, []byte("dst"), key); string(v) != "dst" || !errors.Is(err, firn.ErrNotFound) {
						t.Errorf("GetAndDelete of a %s: %q, %v", name, v, err)
					}
					loads = 0
					if v, err := c.GetOrLoad(ctx, nil, key, load); loads != 1 || err == nil {
						t.Errorf("after GetAndDelete the %s is there: %q, %v", name, v, err)
					}
					continue
				}
				if err := c.Compute(ctx, key, func(old []byte, ok bool) ([]byte, firn.Op) {
					if ok || len(old) != 0 {
						t.Errorf("%s: the function saw %q, %v", name, old, ok)
					}
					return nil, firn.OpKeep
				}); err != nil {
					t.Error(err)
				}
				if n, err := c.Increment(ctx, key, 7); n != 7 || err != nil {
					t.Errorf("%s: %d, %v", name, n, err)
				}
				if v, err := c.GetOrLoad(ctx, nil, key, load); len(v) != 8 || err != nil {
					t.Errorf("%s: GetOrLoad finds %q, %v after it", name, v, err)
				}
			}
		})
	}
}

// A load that is under way stores nothing after a Compute that has written, and may store
// after one that has not. GetAndDelete counts as a write, also of what is absent.
func TestComputeBesideLoads(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		call func(w *computing) error
		want string
	}{
		"OpKeep":       {func(w *computing) error { return harness.Err(w.compute("", false, "", firn.OpKeep)) }, "loaded"},
		"OpSet":        {func(w *computing) error { return harness.Err(w.compute("", false, "set", firn.OpSet)) }, "set"},
		"OpDelete":     {func(w *computing) error { return harness.Err(w.compute("", false, "", firn.OpDelete)) }, ""},
		"GetAndDelete": {func(w *computing) error { _, _ = w.c.GetAndDelete(context.Background(), nil, w.key); return nil }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			onTiers(t, func(w *computing) {
				var loading, done sync.WaitGroup
				loading.Add(1)
				goOn := make(chan struct{})
				done.Go(func() {
					_, err := w.c.GetOrLoad(context.Background(), nil, w.key, func(context.Context, []byte) ([]byte, error) {
						loading.Done()
						<-goOn
						return []byte("loaded"), nil
					})
					harness.Must(t, err)
				})
				loading.Wait()
				harness.Must(t, x.call(w))
				close(goOn)
				done.Wait()
				w.holds(x.want, map[bool]time.Duration{true: 0, false: time.Minute}[x.want == ""])
			})
		})
	}
}

// A function that panics leaves nothing behind.
func TestComputePanics(t *testing.T) {
	t.Parallel()
	onTiers(t, func(w *computing) {
		harness.Must(t, w.c.Set(w.key, []byte("old")))
		w.settle()
		for range 3 {
			func() {
				defer func() {
					if recover() != "mine" {
						w.Error("the panic was lost")
					}
				}()
				_ = w.c.Compute(context.Background(), w.key, func([]byte, bool) ([]byte, firn.Op) { panic("mine") })
			}()
		}
		if harness.Watched(w.c) {
			w.Error("a key is still watched")
		}
		w.holds("old", time.Minute)
		calls, err := w.compute("old", true, "new", firn.OpSet)
		if calls != 1 || err != nil || harness.Watched(w.c) {
			w.Errorf("%d calls, %v", calls, err)
		}
	})
}

// The function may use the cache, also for the same key, and call Compute.
func TestComputeWithin(t *testing.T) {
	t.Parallel()
	onTiers(t, func(w *computing) {
		ctx := context.Background()
		harness.Must(t, w.c.Set(w.key, []byte("old")))
		w.settle()
		calls := 0
		harness.Must(t, w.c.Compute(ctx, w.key, func(old []byte, _ bool) ([]byte, firn.Op) {
			if calls++; calls == 1 { // a write of its own is a conflict
				harness.Must(t, w.c.Compute(ctx, w.key, func(inner []byte, ok bool) ([]byte, firn.Op) {
					if string(inner) != "old" {
						w.Errorf("the inner one saw %q", inner)
					}
					inner[0] = 'O' // both are their functions' own
					return inner, firn.OpSet
				}))
				if string(old) != "old" {
					w.Errorf("what was lent became %q", old)
				}
			}
			if n, err := w.c.Increment(ctx, []byte("calls"), 1); int(n) != calls || err != nil {
				w.Errorf("%d, %v: want %d", n, err, calls)
			}
			v, _ := w.c.Get(nil, w.key)
			return append(append(old, '+'), v...), firn.OpSet
		}))
		if calls != 2 {
			w.Errorf("%d calls, want 2", calls)
		}
		w.holds("Old+Old", time.Minute)
	})
}

// The small ones.
func TestSetIfAbsentAndCompareAndSwap(t *testing.T) {
	t.Parallel()
	onTiers(t, func(w *computing) {
		ctx := context.Background()
		expect := func(want bool) func(got bool, err error) {
			return func(got bool, err error) {
				w.Helper()
				if got != want || err != nil {
					w.Errorf("%v, %v: want %v", got, err, want)
				}
			}
		}
		expect(false)(w.c.CompareAndSwap(ctx, w.key, nil, []byte("1")))
		w.holds("", 0)
		expect(true)(w.c.SetIfAbsent(ctx, w.key, []byte("1")))
		w.settle()
		expect(false)(w.c.SetIfAbsent(ctx, w.key, []byte("2")))
		w.holds("1", time.Minute)
		w.clock.Advance(10 * time.Second)
		expect(false)(w.c.CompareAndSwap(ctx, w.key, []byte("2"), []byte("3")))
		w.settle()
		expect(true)(w.c.CompareAndSwap(ctx, w.key, []byte("1"), []byte("longer than that")))
		w.holds("longer than that", 50*time.Second)
		w.settle()
		v, err := w.c.GetAndDelete(ctx, []byte("before "), w.key)
		if string(v) != "before longer than that" || err != nil {
			w.Errorf("GetAndDelete: %q, %v", v, err)
		}
		w.holds("", 0)
		expect(true)(w.c.SetIfAbsent(ctx, w.key, nil))
		w.holds("", time.Minute)
		expect(true)(w.c.CompareAndSwap(ctx, w.key, nil, nil))

		number := []byte("number")
		for i, want := range []int64{5, 3, -1} {
			if n, err := w.c.Increment(ctx, number, []int64{5, -2, -4}[i]); n != want || err != nil {
				w.Errorf("%d, %v: want %d", n, err, want)
			}
			w.settle()
			w.clock.Advance(time.Second)
		}
		if v, ok := w.c.Get(nil, number); string(v) != "\xff\xff\xff\xff\xff\xff\xff\xff" || !ok {
			w.Errorf("-1 is %x", v)
		}
		if ttl, _ := w.c.TTL(number); ttl != 57*time.Second {
			w.Errorf("TTL is %v: want that of the first", ttl)
		}
	})
}
