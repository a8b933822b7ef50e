package loads

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/tests/harness"
)

// The keys that a loader is given are its own: whatever it does to them, the
// values are stored under the keys that were asked for.
func TestLoaderMayWriteToItsKeys(t *testing.T) {
	t.Parallel()
	c := harness.OpenSmall(t)
	spoil := func(_ context.Context, key []byte) ([]byte, error) {
		v := append([]byte("value of "), key...)
		clear(key)
		_ = append(key, "more"...)
		return v, nil
	}
	for i := range 100 {
		key := fmt.Append(nil, "key ", i)
		if _, err := c.GetOrLoad(t.Context(), nil, key, spoil); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Refresh(t.Context(), nil, key, spoil); err != nil {
			t.Fatal(err)
		}
	}
	var keys [][]byte
	for i := range 200 {
		keys = append(keys, fmt.Append(nil, "key ", i))
	}
	var b firn.Batch
	err := c.GetOrLoadMulti(t.Context(), &b, keys, func(ctx context.Context, keys [][]byte) (values [][]byte, err error) {
		for i := range keys {
			v, _ := spoil(ctx, keys[i])
			values = append(values, v)
		}
		for i := range keys {
			keys[i] = []byte("another")
		}
		return values, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, key := range keys {
		want := "value of " + string(key)
		v, ok := b.Value(i)
		if got, stored := c.Get(nil, key); !ok || !stored || string(v) != want || string(got) != want {
			t.Errorf("%s: %q, %v in the batch, %q, %v stored", key, v, ok, got, stored)
		}
	}
	if err := harness.CheckInvariants(c); err != nil {
		t.Error(err)
	}
}

// A loader that ends its goroutine is said to have done that.
func TestLoaderCallsGoexit(t *testing.T) {
	t.Parallel()
	c := harness.OpenSmall(t)
	var nothing any // panic(nil) would not pass vet
	for what, load := range map[string]firn.LoadFunc{
		"runtime.Goexit": func(context.Context, []byte) ([]byte, error) { runtime.Goexit(); return nil, nil },
		"nil":            func(context.Context, []byte) ([]byte, error) { panic(nothing) },
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, what) || strings.Contains(got, "<nil>") {
					t.Errorf("the caller's panic: %q: want one that names %s", got, what)
				}
			}()
			_, err := c.GetOrLoad(t.Context(), nil, []byte("k"), load)
			t.Errorf("no panic: %v", err)
		}()
	}
	if n := c.Stats().Loads.Panics; n != 2 {
		t.Errorf("%d panics, want 2", n)
	}
}

// A loader that asks for the key that it is loading would wait for itself: it gets an error. It
// may ask for others.
func TestLoaderAsksForItsOwnKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := harness.OpenSmall(t)
		a := []byte("a")
		for what, load := range map[string]firn.LoadFunc{
			"GetOrLoad": func(ctx context.Context, key []byte) ([]byte, error) {
				return c.GetOrLoad(ctx, nil, key, harness.Value("v"))
			},
			"Refresh": func(ctx context.Context, key []byte) ([]byte, error) {
				return nil, harness.Err(c.Refresh(ctx, nil, key, harness.Value("v")))
			},
			"GetOrLoadMulti": func(ctx context.Context, key []byte) ([]byte, error) {
				var batch firn.Batch
				err := c.GetOrLoadMulti(ctx, &batch, [][]byte{key, []byte("third")}, func(context.Context, [][]byte) ([][]byte, error) { return [][]byte{nil}, nil })
				return nil, err
			},
		} {
			if _, err := c.GetOrLoad(t.Context(), nil, a, load); err == nil || !strings.Contains(err.Error(), "asks for a key that it is loading") {
				t.Errorf("%s: %v", what, err)
			}
		}
		// With another's context, or after a write of the key, it is as any other.
		v, err := c.GetOrLoad(t.Context(), nil, a, func(ctx context.Context, key []byte) ([]byte, error) {
			if err := c.Delete(key); err != nil {
				return nil, err
			}
			return c.GetOrLoad(ctx, nil, key, harness.Value("newer"))
		})
		if stored, ok := c.Get(nil, a); err != nil || string(v) != "newer" || string(stored) != "newer" || !ok {
			t.Errorf("after a write: %q, %v, stored %q", v, err, stored)
		}
	})
}

// logLines is a handler that keeps the lines.
type logLines struct {
	mu    sync.Mutex
	lines []string
}

func (l *logLines) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

func (l *logLines) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, string(line))
	return len(line), nil
}

// with counts the lines with a word.
func (l *logLines) with(word string) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range l.lines {
		n += strings.Count(line, word)
	}
	return n
}

// A loaded value that is too large is an answer like others, to every caller; the
// older one goes, and what is told of it are a counter and one line.
func TestLoadedValueTooLarge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log logLines
		c := harness.OpenSmall(t, func(o *firn.Options) { o.Log = log.logger() })
		k, big := []byte("k"), make([]byte, 1<<19)
		loads := 0
		load := func(context.Context, []byte) ([]byte, error) { loads++; return big, nil }
		for range 3 {
			if v, err := c.GetOrLoad(t.Context(), nil, k, load); err != nil || len(v) != len(big) {
				t.Errorf("%d bytes, %v", len(v), err)
			}
		}
		var b firn.Batch
		err := c.GetOrLoadMulti(t.Context(), &b, keysOf("k a"), func(context.Context, [][]byte) ([][]byte, error) {
			return [][]byte{big, []byte("v")}, nil
		})
		if v, ok := b.Value(0); err != nil || !ok || len(v) != len(big) || !c.Has([]byte("a")) {
			t.Errorf("GetOrLoadMulti: %d bytes, %v, %v", len(v), ok, err)
		}
		texts := harness.NewTyped(t, c, "n", firn.TypedOptions[int, string]{})
		if v, err := texts.GetOrLoad(t.Context(), 1, func(context.Context, int) (string, error) { return string(big), nil }); err != nil || len(v) != len(big) {
			t.Errorf("Typed.GetOrLoad: %d bytes, %v", len(v), err)
		}
		if err := c.Set(k, []byte("old")); err != nil {
			t.Fatal(err)
		}
		if v, err := c.Refresh(t.Context(), []byte("dst"), k, load); !errors.Is(err, firn.ErrTooLarge) || len(v) != len("dst")+len(big) {
			t.Errorf("Refresh, which is there to store: %d bytes, %v", len(v), err)
		}
		if v, ok := c.Get(nil, k); ok {
			t.Errorf("the older value is there still: %q", v)
		}
		synctest.Wait()
		if st := c.Stats(); st.Loads.StoreErrors != 6 || loads != 4 || st.Loads.Errors != 0 {
			t.Errorf("%d could not be stored, %d loads, %d errors", st.Loads.StoreErrors, loads, st.Loads.Errors)
		}
		if n := log.with("too large"); n != 2 { // in the message and in the error
			t.Errorf("the log: %q", log.lines)
		}
	})
}

// No value is the answer to nil without an error, of one key as of many; an empty value is
// a value. Of typed loads every value is one.
func TestLoaderReturnsNil(t *testing.T) {
	t.Parallel()
	c := harness.OpenSmall(t, func(o *firn.Options) { o.Loading.NegativeTTL = time.Hour })
	loads := 0
	of := func(v []byte) firn.LoadFunc {
		return func(context.Context, []byte) ([]byte, error) { loads++; return v, nil }
	}
	none, empty := []byte("none"), []byte("empty")
	for range 2 { // the second time it is remembered
		if v, err := c.GetOrLoad(t.Context(), []byte("dst"), none, of(nil)); err != firn.ErrNotFound || string(v) != "dst" {
			t.Errorf("nil: %q, %v", v, err)
		}
		if v, err := c.GetOrLoad(t.Context(), []byte("dst"), empty, of([]byte{})); err != nil || string(v) != "dst" {
			t.Errorf("empty: %q, %v", v, err)
		}
	}
	if c.Has(none) || !c.Has(empty) || loads != 2 {
		t.Errorf("nil is stored: %v, empty: %v, %d loads", c.Has(none), c.Has(empty), loads)
	}
	if v, err := c.Refresh(t.Context(), []byte("dst"), empty, of(nil)); err != firn.ErrNotFound || string(v) != "dst" || c.Has(empty) {
		t.Errorf("Refresh with nil: %q, %v, stored: %v", v, err, c.Has(empty))
	}
	slices, pointers := harness.NewTyped(t, c, "slices", firn.TypedOptions[int, []byte]{}), harness.NewTyped(t, c, "pointers", firn.TypedOptions[int, *account]{})
	if v, err := slices.GetOrLoad(t.Context(), 1, func(context.Context, int) ([]byte, error) { return nil, nil }); err != nil || len(v) != 0 || !slices.Has(1) {
		t.Errorf("a nil slice: %q, %v", v, err)
	}
	if v, err := pointers.Refresh(t.Context(), 1, func(context.Context, int) (*account, error) { return nil, nil }); err != nil || v != nil || !pointers.Has(1) {
		t.Errorf("a nil pointer: %v, %v", v, err)
	}
	var b firn.TypedBatch[*account]
	err := pointers.GetOrLoadMulti(t.Context(), &b, []int{2, 3}, func(context.Context, []int) (map[int]*account, error) { return map[int]*account{2: nil}, nil })
	if _, ok := b.Value(0); err != nil || !ok || pointers.Has(3) {
		t.Errorf("a map with a nil pointer: %v, %v, stored: %v", ok, err, pointers.Has(3))
	}
}
