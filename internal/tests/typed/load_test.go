package typed

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/cachetest"
	"github.com/firncache/firn/internal/invariants"
	"github.com/firncache/firn/internal/tests/harness"
)

func TestTypedLoadOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := harness.OpenSmall(t)
		users := harness.NewTyped(t, c, "n", firn.TypedOptions[int, *user]{})
		var calls atomic.Int32
		load := func(_ context.Context, id int) (*user, error) {
			calls.Add(1)
			time.Sleep(time.Second)
			return &user{ID: userID(id), Name: "loaded"}, nil
		}
		var mu sync.Mutex
		seen := map[*user]bool{}
		var wg sync.WaitGroup
		for range 1000 {
			wg.Go(func() {
				u, err := users.GetOrLoad(context.Background(), 7, load)
				if err != nil || u.ID != 7 || u.Name != "loaded" {
					t.Errorf("got %+v, %v", u, err)
				}
				mu.Lock()
				defer mu.Unlock()
				if seen[u] {
					t.Error("two callers got the same value")
				}
				seen[u] = true
			})
		}
		wg.Wait()
		if calls.Load() != 1 {
			t.Errorf("%d loads, want 1", calls.Load())
		}
		if u, ok := users.Get(7); !ok || u.Name != "loaded" {
			t.Errorf("not stored: %+v, %v", u, ok)
		}
	})
}

func TestTypedLoadTTL(t *testing.T) {
	clock := &cachetest.Clock{}
	c := harness.OpenSmall(t, func(o *firn.Options) { o.Clock, o.TTL = clock.Now, time.Hour })
	ctx := context.Background()
	short := harness.NewTyped(t, c, "short", firn.TypedOptions[int, int]{TTL: time.Minute})
	long := harness.NewTyped(t, c, "long", firn.TypedOptions[int, int]{})
	load := func(context.Context, int) (int, error) { return 1, nil }
	brief := func(ctx context.Context, _ int) (int, error) { return 1, firn.SetLoadTTL(ctx, time.Second) }
	for _, err := range []error{
		harness.Err(short.GetOrLoad(ctx, 1, load)), harness.Err(long.GetOrLoad(ctx, 1, load)), harness.Err(short.GetOrLoad(ctx, 2, brief)),
		harness.Err(short.Refresh(ctx, 3, load)),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	clock.Advance(time.Second)
	if short.Has(2) || !short.Has(1) || !short.Has(3) {
		t.Error("after a second only what the loader said is gone")
	}
	clock.Advance(time.Minute)
	if short.Has(1) || short.Has(3) || !long.Has(1) {
		t.Error("after a minute only the hour's value is there")
	}
}

func TestTypedLoadErrors(t *testing.T) {
	ctx := context.Background()
	c := harness.OpenSmall(t)
	floats := harness.NewTyped(t, c, "n", firn.TypedOptions[int, []float64]{Codec: firn.JSONCodec[[]float64]()})
	boom := errors.New("boom")
	for _, want := range []error{boom, firn.ErrNotFound} {
		v, err := floats.GetOrLoad(ctx, 1, func(context.Context, int) ([]float64, error) { return []float64{1}, want })
		if err != want || v != nil || floats.Has(1) {
			t.Errorf("%v: got %v, %v", want, v, err)
		}
	}
	nan := func(context.Context, int) ([]float64, error) { return []float64{math.NaN()}, nil }
	if v, err := floats.GetOrLoad(ctx, 1, nan); err == nil || !strings.Contains(err.Error(), "encode a value of type []float64") || v != nil {
		t.Errorf("NaN: %v, %v", v, err)
	}
	texts := harness.NewTyped(t, c, "texts", firn.TypedOptions[int, string]{})
	v, err := texts.GetOrLoad(ctx, 1, func(context.Context, int) (string, error) { return strings.Repeat("x", 1<<20), nil })
	if err != nil || len(v) != 1<<20 {
		t.Errorf("too large: %d bytes, %v", len(v), err)
	}
	bad := harness.NewTyped(t, c, "n", firn.TypedOptions[string, int]{KeyCodec: pickyKeys{firn.JSONCodec[string]()}})
	one := func(context.Context, string) (int, error) { return 1, nil }
	if _, err := bad.GetOrLoad(ctx, "bad", one); !errors.Is(err, errBadKey) {
		t.Errorf("bad key: %v", err)
	}
	if _, err := bad.Refresh(ctx, "bad", one); !errors.Is(err, errBadKey) {
		t.Errorf("bad key: %v", err)
	}
	var b firn.TypedBatch[int]
	err = bad.GetOrLoadMulti(ctx, &b, []string{"bad", "good"}, func(_ context.Context, keys []string) (map[string]int, error) {
		return map[string]int{"good": 5}, nil
	})
	if v, ok := b.Value(1); !errors.Is(err, errBadKey) || !ok || v != 5 {
		t.Errorf("bad key in a batch: %d, %v, %v", v, ok, err)
	}
	c.Close()
	if _, err := texts.GetOrLoad(ctx, 2, nil); !errors.Is(err, firn.ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}

// What cannot be read is loaded anew, once.
func TestTypedLoadReplacesMismatches(t *testing.T) {
	ctx := context.Background()
	for name, damage := range map[string]func(c *firn.Cache, raw []byte){
		"other stamp": func(c *firn.Cache, raw []byte) { c.Set(raw, []byte("other stamp")) },
		"empty":       func(c *firn.Cache, raw []byte) { c.Set(raw, nil) },
		"bad bytes": func(c *firn.Cache, raw []byte) {
			v, _ := c.Get(nil, raw)
			c.Set(raw, v[:5])
		},
	} {
		for _, multi := range []bool{false, true} {
			c := harness.OpenSmall(t)
			users := harness.NewTyped(t, c, "n", firn.TypedOptions[string, user]{})
			users.Set("k", user{Name: "old"})
			damage(c, rawKey(t, c, "k"))
			calls := 0
			var u user
			var err error
			if multi {
				var b firn.TypedBatch[user]
				err = users.GetOrLoadMulti(ctx, &b, []string{"k"}, func(context.Context, []string) (map[string]user, error) {
					calls++
					return map[string]user{"k": {Name: "new"}}, nil
				})
				u, _ = b.Value(0)
			} else {
				u, err = users.GetOrLoad(ctx, "k", func(context.Context, string) (user, error) {
					calls++
					return user{Name: "new"}, nil
				})
			}
			if err != nil || u.Name != "new" || calls != 1 {
				t.Errorf("%s, multi %v: %+v, %v after %d loads", name, multi, u, err, calls)
			}
			if s := c.Stats(); s.Mismatches+s.DecodeErrors != 1 {
				t.Errorf("%s: %d mismatches, %d decode errors, want 1 of them", name, s.Mismatches, s.DecodeErrors)
			}
			if u, ok := users.Get("k"); !ok || u.Name != "new" {
				t.Errorf("%s: stored %+v, %v", name, u, ok)
			}
		}
	}
}

// brokenCodec does not read what it writes.
type brokenCodec struct{ firn.Codec[string] }

func (brokenCodec) Decode([]byte) (string, error) { return "", errors.New("broken") }

func TestTypedLoadWithBrokenCodec(t *testing.T) {
	ctx := context.Background()
	c := harness.OpenSmall(t)
	codec, _ := firn.DefaultCodec[string]()
	texts := harness.NewTyped(t, c, "n", firn.TypedOptions[int, string]{Codec: brokenCodec{codec}})
	_, err := texts.GetOrLoad(ctx, 1, func(context.Context, int) (string, error) { return "x", nil })
	if err == nil || errors.Is(err, firn.ErrNotFound) || !strings.Contains(err.Error(), "broken") {
		t.Errorf("got %v, want the codec's error and not that nothing was found", err)
	}
	var b firn.TypedBatch[string]
	err = texts.GetOrLoadMulti(ctx, &b, []int{1}, func(context.Context, []int) (map[int]string, error) { return map[int]string{1: "x"}, nil })
	if _, ok := b.Value(0); ok || err == nil || errors.Is(err, firn.ErrNotFound) {
		t.Errorf("batch: %v, %v", ok, err)
	}
}

func TestTypedRefresh(t *testing.T) {
	ctx := context.Background()
	for _, opts := range []firn.TypedOptions[string, string]{{}, harness.WithFront(firn.TypedOptions[string, string]{})} {
		c := harness.OpenSmall(t)
		texts := harness.NewTyped(t, c, "n", opts)
		texts.Set("k", "old")
		texts.Get("k")
		load := func(_ context.Context, key string) (string, error) {
			if v, ok := texts.Get(key); !ok || v != "old" {
				t.Errorf("during the load: %q, %v", v, ok)
			}
			return "new", nil
		}
		if v, err := texts.Refresh(ctx, "k", load); err != nil || v != "new" {
			t.Fatalf("Refresh: %q, %v", v, err)
		}
		if v, ok := texts.Get("k"); !ok || v != "new" {
			t.Errorf("after Refresh: %q, %v", v, ok)
		}
		gone := func(context.Context, string) (string, error) { return "", firn.ErrNotFound }
		if v, err := texts.Refresh(ctx, "k", gone); !errors.Is(err, firn.ErrNotFound) || v != "" || texts.Has("k") {
			t.Errorf("after a Refresh that found nothing: %q, %v, has %v", v, err, texts.Has("k"))
		}
		large := func(context.Context, string) (string, error) { return strings.Repeat("x", 1<<20), nil }
		if v, err := texts.Refresh(ctx, "k", large); !errors.Is(err, firn.ErrTooLarge) || len(v) != 1<<20 || texts.Has("k") {
			t.Errorf("after a Refresh with a value that is too large: %d bytes, %v, has %v", len(v), err, texts.Has("k"))
		}
	}
}

// A value that is due is refreshed in the background, also if a front has it.
func TestTypedRefreshAfter(t *testing.T) {
	for name, opts := range map[string]firn.TypedOptions[string, string]{
		"bytes": {}, "front": harness.WithFront(firn.TypedOptions[string, string]{}),
	} {
		for _, multi := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				ctx := context.Background()
				c := harness.OpenSmall(t, func(o *firn.Options) { o.TTL, o.Loading.RefreshAfter = time.Minute, 10*time.Second })
				texts := harness.NewTyped(t, c, "n", opts)
				n := 0
				get := func() (v string) {
					var err error
					if multi {
						var b firn.TypedBatch[string]
						err = texts.GetOrLoadMulti(ctx, &b, []string{"k"}, func(context.Context, []string) (map[string]string, error) {
							n++
							return map[string]string{"k": fmt.Sprint("load ", n)}, nil
						})
						v, _ = b.Value(0)
					} else {
						v, err = texts.GetOrLoad(ctx, "k", func(context.Context, string) (string, error) {
							n++
							return fmt.Sprint("load ", n), nil
						})
					}
					if err != nil {
						t.Error(err)
					}
					synctest.Wait()
					return v
				}
				texts.Set("k", "set")
				texts.Get("k")
				texts.Get("k")
				for _, want := range []string{"set", "set"} {
					if v := get(); v != want {
						t.Errorf("%s, multi %v: young: %q", name, multi, v)
					}
				}
				time.Sleep(20 * time.Second)
				if v := get(); v != "set" || n != 1 {
					t.Errorf("%s, multi %v: due: %q after %d loads, want the old value and a load", name, multi, v, n)
				}
				if v := get(); v != "load 1" || n != 1 {
					t.Errorf("%s, multi %v: refreshed: %q after %d loads", name, multi, v, n)
				}
				c.Close()
			})
		}
	}
}

func TestTypedLoadMulti(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		c := harness.OpenSmall(t)
		squares := harness.NewTyped(t, c, "n", firn.TypedOptions[int, int]{})
		squares.Set(3, 9)
		var calls [][]int
		load := func(_ context.Context, keys []int) (map[int]int, error) {
			calls = append(calls, slices.Clone(keys))
			time.Sleep(time.Second)
			values := map[int]int{}
			for i, k := range keys {
				if k != 5 { // has no square
					values[k] = k * k
				}
				keys[i] = -1 // the slice is the loader's
			}
			return values, nil
		}
		var b firn.TypedBatch[int]
		keys := []int{2, 3, 4, 5, 2}
		check := func() {
			t.Helper()
			for i, k := range keys {
				if v, ok := b.Value(i); ok != (k != 5) || ok && v != k*k {
					t.Errorf("%d: %d, %v", k, v, ok)
				}
			}
		}
		if err := squares.GetOrLoadMulti(ctx, &b, keys, load); err != nil {
			t.Fatal(err)
		}
		check()
		if len(calls) != 1 || !slices.Equal(calls[0], []int{2, 4, 5}) {
			t.Errorf("loads of %v, want one of 2, 4 and 5", calls)
		}
		if err := squares.GetOrLoadMulti(ctx, &b, keys, load); err != nil {
			t.Fatal(err)
		}
		check()
		if len(calls) != 2 || !slices.Equal(calls[1], []int{5}) {
			t.Errorf("loads of %v, want another of 5", calls)
		}
		boom := errors.New("boom")
		err := squares.GetOrLoadMulti(ctx, &b, []int{2, 100}, func(context.Context, []int) (map[int]int, error) { return nil, boom })
		if v, ok := b.Value(0); !errors.Is(err, boom) || !ok || v != 4 {
			t.Errorf("a load that fails: %d, %v, %v", v, ok, err)
		}
		if _, ok := b.Value(1); ok {
			t.Error("a load that fails has a value")
		}
	})
}

// A loader that is slower than its caller finds its keys unchanged.
func TestTypedLoadMultiOutlivesCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := harness.OpenSmall(t)
		texts := harness.NewTyped(t, c, "n", firn.TypedOptions[int, string]{})
		ctx, cancel := context.WithCancel(context.Background())
		release := make(chan struct{})
		load := func(_ context.Context, keys []int) (map[int]string, error) {
			<-release
			return map[int]string{keys[0]: fmt.Sprint("value of ", keys[0])}, nil
		}
		var b firn.TypedBatch[string]
		keys := []int{1}
		first := make(chan error)
		go func() { first <- texts.GetOrLoadMulti(ctx, &b, keys, load) }()
		synctest.Wait()
		done := make(chan struct{})
		go func() { // joins the load
			defer close(done)
			v, err := texts.GetOrLoad(context.Background(), 1, func(context.Context, int) (string, error) { return "other load", nil })
			if err != nil || v != "value of 1" {
				t.Errorf("the one who stays: %q, %v", v, err)
			}
		}()
		synctest.Wait()
		cancel()
		if err := <-first; !errors.Is(err, context.Canceled) {
			t.Errorf("the one who left: %v", err)
		}
		keys[0] = 2
		texts.GetMulti(ctx, &b, []int{3, 4, 5})
		close(release)
		<-done
	})
}

// A write that begins during a load wins, with a front too.
func TestTypedLoadLosesAgainstWrites(t *testing.T) {
	for name, write := range map[string]func(texts *firn.Typed[string, string]) error{
		"Set":    func(texts *firn.Typed[string, string]) error { return texts.Set("k", "set") },
		"Delete": func(texts *firn.Typed[string, string]) error { return texts.Delete("k") },
		"Clear":  func(texts *firn.Typed[string, string]) error { return texts.Clear(ctx) },
	} {
		for _, opts := range []firn.TypedOptions[string, string]{{}, harness.WithFront(firn.TypedOptions[string, string]{})} {
			c := harness.OpenSmall(t)
			texts := harness.NewTyped(t, c, "n", opts)
			v, err := texts.GetOrLoad(context.Background(), "k", func(context.Context, string) (string, error) {
				return "old", write(texts)
			})
			if err != nil || v != "old" {
				t.Errorf("%s: the caller from before: %q, %v", name, v, err)
			}
			for range 2 {
				if v, ok := texts.Get("k"); ok != (name == "Set") || ok && v != "set" {
					t.Errorf("%s: afterwards %q, %v", name, v, ok)
				}
			}
		}
	}
}

func TestTypedLoadAllocations(t *testing.T) {
	if invariants.Race {
		t.Log("not run under the race detector, which allocates")
		return
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c := harness.OpenSmall(t)
	numbers := harness.NewTyped(t, c, "n", firn.TypedOptions[int, int]{})
	numbers.Set(1, 1)
	load := func(context.Context, int) (int, error) { return 0, nil }
	loadMulti := func(context.Context, []int) (map[int]int, error) { return nil, nil }
	var b firn.TypedBatch[int]
	keys := []int{1, 1}
	type pair struct{ Name, Email string }
	pairs, n := harness.NewTyped(t, c, "pairs", firn.TypedOptions[int, pair]{}), 0
	loadPair := func(context.Context, int) (pair, error) { return pair{"Ada", "ada@example.org"}, nil }
	for _, x := range []struct {
		name string
		want float64
		call func()
	}{
		{"GetOrLoad hit", 0, func() { numbers.GetOrLoad(ctx, 1, load) }},
		{"GetOrLoadMulti hit", 0, func() { numbers.GetOrLoadMulti(ctx, &b, keys, loadMulti) }},
		{"GetOrLoad miss", 8, func() { n++; pairs.GetOrLoad(ctx, n, loadPair) }},
	} {
		x.call() // warm
		if got := testing.AllocsPerRun(2000, x.call); got > x.want {
			t.Errorf("%s: %v allocations, want %v", x.name, got, x.want)
		}
	}
}
