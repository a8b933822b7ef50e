package loads

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/tests/harness"
)

func keysOf(names string) (keys [][]byte) {
	for name := range strings.FieldsSeq(names) {
		keys = append(keys, []byte(name))
	}
	return keys
}

// afterAll is a bulk loader that returns v for every key, after a while.
func afterAll(d time.Duration, v string) firn.MultiLoadFunc {
	return func(_ context.Context, keys [][]byte) ([][]byte, error) {
		time.Sleep(d)
		return slices.Repeat([][]byte{[]byte(v)}, len(keys)), nil
	}
}

// show is a batch on one line.
func show(b *firn.Batch) string {
	var s []string
	for i := range b.Len() {
		v, ok := b.Value(i)
		if !ok {
			v = []byte("-")
		}
		s = append(s, string(v))
	}
	return strings.Join(s, " ")
}

func TestLoadMulti(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := harness.OpenSmall(t)
		c.Set([]byte("b"), []byte("old-b"))
		var asked []string
		load := func(_ context.Context, keys [][]byte) (values [][]byte, _ error) {
			asked = append(asked, string(slices.Concat(keys...)))
			for _, k := range keys {
				switch k[0] {
				case 'n':
					values = append(values, nil)
				case 'e':
					values = append(values, []byte{})
				default:
					values = append(values, append([]byte("new-"), k...))
				}
			}
			return values, nil
		}
		var b firn.Batch
		for _, x := range []struct{ keys, want, asked string }{
			{"a b c", "new-a old-b new-c", "ac"},
			{"c b a", "new-c old-b new-a", ""},
			{"d n d a d", "new-d - new-d new-a new-d", "dn"},
			{"n e", "- ", "ne"},
			{"e", "", ""},
			{"", "", ""},
		} {
			asked = nil
			if err := c.GetOrLoadMulti(t.Context(), &b, keysOf(x.keys), load); err != nil {
				t.Fatal(err)
			}
			if show(&b) != x.want || strings.Join(asked, "|") != x.asked {
				t.Errorf("%q: got %q, asked for %q: want %q and %q", x.keys, show(&b), asked, x.want, x.asked)
			}
		}
		if v, ok := c.Get(nil, []byte("a")); !ok || string(v) != "new-a" {
			t.Errorf("not stored: %q, %v", v, ok)
		}
	})
}

// Keys that another load fetches are not loaded again, in either direction.
func TestLoadMultiSharesLoads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := harness.OpenSmall(t)
		var wg sync.WaitGroup
		multi := func(keys, asked string, d time.Duration, v, want string) {
			wg.Go(func() {
				var b firn.Batch
				err := c.GetOrLoadMulti(t.Context(), &b, keysOf(keys), func(ctx context.Context, k [][]byte) ([][]byte, error) {
					if got := string(slices.Concat(k...)); got != asked {
						t.Errorf("%s: asked for %q, want %q", keys, got, asked)
					}
					return afterAll(d, v)(ctx, k)
				})
				if err != nil || show(&b) != want {
					t.Errorf("%s: %q, %v: want %q", keys, show(&b), err, want)
				}
			})
			synctest.Wait()
		}
		wg.Go(func() {
			if v, err := c.GetOrLoad(t.Context(), nil, []byte("a"), after(3*time.Second, "1")); err != nil || string(v) != "1" {
				t.Errorf("%q, %v", v, err)
			}
		})
		synctest.Wait()
		multi("a b c", "bc", time.Second, "2", "1 2 2")
		multi("b c d", "d", 2*time.Second, "3", "2 2 3")
		wg.Go(func() {
			if v, err := c.GetOrLoad(t.Context(), nil, []byte("d"), nil); err != nil || string(v) != "3" {
				t.Errorf("%q, %v", v, err)
			}
		})
		wg.Wait()
		if n := c.Stats().Loads.Count; n != 4 {
			t.Errorf("%d values loaded, want 4", n)
		}
	})
}

// With CancelUnwanted a bulk load goes on as long as anybody waits for any of its keys.
func TestLoadMultiCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := harness.OpenSmall(t, func(o *firn.Options) { o.Loading.CancelUnwanted = true })
		c.Set([]byte("here"), []byte("v"))
		start := time.Now()
		wait := func(seconds int) (context.Context, context.CancelFunc) {
			return context.WithTimeout(t.Context(), time.Duration(seconds)*time.Second)
		}
		var ended time.Duration
		var wg sync.WaitGroup
		wg.Go(func() {
			ctx, cancel := wait(1)
			defer cancel()
			var b firn.Batch
			err := c.GetOrLoadMulti(ctx, &b, keysOf("a here b"), func(ctx context.Context, _ [][]byte) ([][]byte, error) {
				<-ctx.Done()
				ended = time.Since(start)
				return nil, ctx.Err()
			})
			if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Second || show(&b) != "- v -" {
				t.Errorf("%v after %v, %q", err, time.Since(start), show(&b))
			}
		})
		synctest.Wait()
		wg.Go(func() {
			ctx, cancel := wait(5)
			defer cancel()
			if _, err := c.GetOrLoad(ctx, nil, []byte("b"), nil); !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
		})
		wg.Wait()
		synctest.Wait()
		if ended != 5*time.Second {
			t.Errorf("the loader was told to stop after %v, want 5s", ended)
		}
	})
}

func TestLoadMultiWritesWin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := harness.OpenSmall(t)
		done := make(chan struct{})
		go func() {
			defer close(done)
			var b firn.Batch
			if err := c.GetOrLoadMulti(t.Context(), &b, keysOf("a b c"), afterAll(time.Second, "loaded")); err != nil || show(&b) != "loaded loaded loaded" {
				t.Errorf("%q, %v", show(&b), err)
			}
		}()
		synctest.Wait()
		c.Set([]byte("a"), []byte("set"))
		c.Delete([]byte("b"))
		<-done
		var b firn.Batch
		if c.GetMulti(t.Context(), &b, keysOf("a b c")); show(&b) != "set - loaded" {
			t.Errorf("afterwards: %q", show(&b))
		}
	})
}

func TestLoadMultiErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := harness.OpenSmall(t)
		c.Set([]byte("here"), []byte("v"))
		boom := errors.New("boom")
		var b firn.Batch
		for _, x := range []struct {
			values [][]byte
			err    error
			want   string
		}{
			{nil, boom, "boom"},
			{nil, firn.ErrNotFound, ""},
			{[][]byte{nil}, nil, "1 values for 2 keys"},
			{[][]byte{nil, nil, nil}, nil, "3 values for 2 keys"},
		} {
			err := c.GetOrLoadMulti(t.Context(), &b, keysOf("a here b"), func(context.Context, [][]byte) ([][]byte, error) { return x.values, x.err })
			if x.want == "" && err != nil || !strings.Contains(fmt.Sprint(err), x.want) || show(&b) != "- v -" {
				t.Errorf("%q, %v: want %q", show(&b), err, x.want)
			}
		}
		big := make([]byte, 1<<19)
		err := c.GetOrLoadMulti(t.Context(), &b, keysOf("a b"), func(context.Context, [][]byte) ([][]byte, error) {
			return [][]byte{big, []byte("v")}, nil
		})
		v, ok := b.Value(0)
		if err != nil || len(v) != len(big) || !ok || c.Has([]byte("a")) || !c.Has([]byte("b")) {
			t.Errorf("too large: %d bytes, %v, %v", len(v), ok, err)
		}
		func() {
			defer func() {
				if err, _ := recover().(error); !errors.Is(err, boom) {
					t.Errorf("recovered %v", err)
				}
			}()
			c.GetOrLoadMulti(t.Context(), &b, keysOf("x y"), func(context.Context, [][]byte) ([][]byte, error) { panic(boom) })
		}()
		synctest.Wait()
		if n := c.Stats().Loads.Active; n != 0 {
			t.Errorf("%d loads are still there", n)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := c.GetOrLoadMulti(ctx, &b, keysOf("here"), nil); err != nil {
			t.Errorf("everything is there, and yet: %v", err)
		}
		if err := c.GetOrLoadMulti(ctx, &b, keysOf("here gone"), nil); !errors.Is(err, context.Canceled) || show(&b) != "v -" {
			t.Errorf("context over before the load: %v", err)
		}
	})
}

// A batch whose values are all there allocates nothing.
func TestLoadMultiHitsAllocateNothing(t *testing.T) {
	c := harness.OpenSmall(t)
	keys := keysOf("a b c")
	c.SetMulti(t.Context(), keys, keys)
	var b firn.Batch
	if n := testing.AllocsPerRun(100, func() { c.GetOrLoadMulti(context.Background(), &b, keys, nil) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
