package bytes

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/tests/harness"
)

// A cache that is off keeps nothing, whatever is called, and fails no call.
func TestOff(t *testing.T) {
	c := harness.Open(t, firn.Options{
		Off: true, RAMBytes: 1 << 30, TTL: time.Hour,
		SSD:     firn.SSDOptions{Dir: t.TempDir(), Bytes: 1 << 30},
		OnEvict: func(_, _ []byte, cause firn.Cause) { t.Errorf("OnEvict: %v", cause) },
		Loading: firn.LoadingOptions{NegativeTTL: time.Hour, ErrorTTL: time.Hour, StaleIfError: time.Hour},
	})
	typed := harness.NewTyped(t, c, "off", firn.TypedOptions[string, int]{
		MaxBytes: 1 << 29, // of the RAMBytes, and TTL, that the cache would have
		Loading:  firn.LoadingOptions{RefreshAfter: time.Minute, NegativeTTL: time.Hour, ErrorTTL: time.Hour, StaleIfError: time.Hour},
	})
	ctx, key := t.Context(), []byte("k")
	for name, write := range offWrites(t, c, typed) {
		if err := write(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		_, ok := c.Get(nil, key)
		_, typedOK := typed.Get("k")
		if n := c.Len(); n != 0 || ok || typedOK {
			t.Errorf("after %s: %d entries, found %v and %v", name, n, ok, typedOK)
		}
	}
	down := errors.New("down")
	for _, err := range []error{firn.ErrNotFound, down} {
		loads := 0
		for range 2 {
			_, got := typed.GetOrLoad(ctx, "k", func(context.Context, string) (int, error) { loads++; return 0, err })
			if !errors.Is(got, err) {
				t.Errorf("%v, want %v", got, err)
			}
		}
		if loads != 2 {
			t.Errorf("%v: %d loads, want 2", err, loads)
		}
	}
	st := c.Stats()
	if got := fmt.Sprint(st.RAM.Bytes <= firn.MinRAMBytes, st.SSD.Bytes, st.Loads.StoreErrors); got != "true 0 0" {
		t.Errorf("Stats: %s: within the least budget, bytes on the SSD, store errors", got)
	}
	c.Close()
	if err := c.Set(key, nil); !errors.Is(err, firn.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

// offWrites are writes of the key "k" that succeed.
func offWrites(t *testing.T, c *firn.Cache, typed *firn.Typed[string, int]) map[string]func() error {
	ctx, key, value := t.Context(), []byte("k"), make([]byte, 1<<20) // longer than what a cache of this size keeps
	count := func(n int64, err error) error {
		if n != 5 {
			t.Errorf("Increment: %d, want 5", n)
		}
		return err
	}
	stored := func(ok bool, err error) error {
		if !ok {
			t.Error("SetIfAbsent stored nothing")
		}
		return err
	}
	second := func(n int, err error) error { return err }
	return map[string]func() error{
		"Set":         func() error { return c.Set(key, value) },
		"SetWithTTL":  func() error { return c.SetWithTTL(key, value, time.Hour) },
		"SetWith":     func() error { return c.SetWith(ctx, key, value, firn.SetOptions{}) },
		"SetMulti":    func() error { return c.SetMulti(ctx, [][]byte{key}, [][]byte{value}) },
		"SetIfAbsent": func() error { return stored(c.SetIfAbsent(ctx, key, value)) },
		"Increment":   func() error { return count(c.Increment(ctx, key, 5)) },
		"Compute": func() error {
			return c.Compute(ctx, key, func(old []byte, _ bool) ([]byte, firn.Op) { return value, firn.OpSet })
		},
		"GetOrLoad": func() error {
			return harness.Err(c.GetOrLoad(ctx, nil, key, func(context.Context, []byte) ([]byte, error) { return value, nil }))
		},
		"Refresh": func() error {
			return harness.Err(c.Refresh(ctx, nil, key, func(context.Context, []byte) ([]byte, error) { return value, nil }))
		},
		"Delete":            func() error { return c.Delete(key) },
		"Clear":             func() error { return c.Clear(ctx) },
		"SetRAMBytes":       func() error { return c.SetRAMBytes(1 << 28) },
		"Typed.Set":         func() error { return typed.Set("k", 1) },
		"Typed.SetMulti":    func() error { return typed.SetMulti(ctx, []string{"k"}, []int{1}) },
		"Typed.SetWith":     func() error { return typed.SetWith(ctx, "k", 1, firn.SetOptions{Tags: []string{"t"}}) },
		"Typed.SetIfAbsent": func() error { return stored(typed.SetIfAbsent(ctx, "k", 1)) },
		"Typed.GetOrLoad": func() error {
			return second(typed.GetOrLoad(ctx, "k", func(context.Context, string) (int, error) { return 1, nil }))
		},
		"Typed.Increment": func() error {
			n, err := firn.Increment(ctx, typed, "k", 5)
			return count(int64(n), err)
		},
		"InvalidateTag": func() error { return typed.InvalidateTag(ctx, "t") },
	}
}
