package firn_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/firncache/firn"
)

// The keys that a loader is given are its own: whatever it does to them, the
// values are stored under the keys that were asked for.
func TestLoaderMayWriteToItsKeys(t *testing.T) {
	t.Parallel()
	c := openSmall(t)
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
		if err := c.Refresh(t.Context(), key, spoil); err != nil {
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
	if err := c.CheckInvariants(); err != nil {
		t.Error(err)
	}
}

// A loader that ends its goroutine is said to have done that.
func TestLoaderCallsGoexit(t *testing.T) {
	t.Parallel()
	c := openSmall(t)
	for what, load := range map[string]firn.LoadFunc{
		"runtime.Goexit": func(context.Context, []byte) ([]byte, error) { runtime.Goexit(); return nil, nil },
		"nil":            func(context.Context, []byte) ([]byte, error) { panic(nil) },
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
	if n := c.Stats().LoadPanics; n != 2 {
		t.Errorf("%d panics, want 2", n)
	}
}
