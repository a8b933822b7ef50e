package loads

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/tests/harness"
)

// Each value of a bulk load may have a time to live of its own.
func TestForKeyTTL(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := harness.OpenSmall(t, func(o *firn.Options) {
			o.Clock, o.TTL = time.Now, time.Hour
			o.Loading.NegativeTTL = 30 * time.Minute
		})
		var b firn.Batch
		keys := keysOf("usual short never none absent forgotten last")
		err := c.GetOrLoadMulti(t.Context(), &b, keys, func(ctx context.Context, keys [][]byte) ([][]byte, error) {
			harness.Must(t, firn.SetLoadTTL(firn.ForKey(ctx, 1), time.Minute))
			harness.Must(t, firn.SetLoadTTL(ctx, 2*time.Hour)) // of the others
			harness.Must(t, firn.SetLoadTTL(firn.ForKey(ctx, 2), firn.Forever))
			harness.Must(t, firn.SetLoadTTL(firn.ForKey(ctx, 3), 0))
			harness.Must(t, firn.SetLoadTTL(firn.ForKey(ctx, 5), -1))
			harness.Must(t, firn.SetLoadTTL(firn.ForKey(ctx, 6), time.Second))
			harness.Must(t, firn.SetLoadTTL(firn.ForKey(ctx, 6), 3*time.Hour))
			values := slices.Repeat([][]byte{[]byte("v")}, len(keys))
			values[4], values[5] = nil, nil
			return values, nil
		})
		if err != nil || show(&b) != "v v v v - - v" {
			t.Fatalf("%q, %v", show(&b), err)
		}
		for i, want := range []time.Duration{2 * time.Hour, time.Minute, firn.Forever, 0, 0, 0, 3 * time.Hour} {
			if ttl, ok := c.TTL(keys[i]); ttl != want || ok != (want != 0) {
				t.Errorf("%s lives for %v, %v: want %v", keys[i], ttl, ok, want)
			}
		}
		var loaded string
		_ = c.GetOrLoadMulti(t.Context(), &b, keysOf("none absent forgotten"), func(_ context.Context, keys [][]byte) ([][]byte, error) {
			loaded = string(slices.Concat(keys...))
			return make([][]byte, len(keys)), nil
		})
		if loaded != "noneforgotten" {
			t.Errorf("%s were loaded: want what was not to be remembered alone", loaded)
		}
	})
}

// A loader that is given fewer keys than the call has counts those that it is given.
func TestForKeyOfMissing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := harness.OpenSmall(t, func(o *firn.Options) { o.Clock = time.Now })
		harness.Must(t, c.Set([]byte("a"), nil))
		var b firn.Batch
		harness.Must(t, c.GetOrLoadMulti(t.Context(), &b, keysOf("a b c"), func(ctx context.Context, keys [][]byte) ([][]byte, error) {
			for i, k := range keys {
				if string(k) == "c" {
					harness.Must(t, firn.SetLoadTTL(firn.ForKey(ctx, i), time.Minute))
				}
			}
			return [][]byte{{}, {}}, nil
		}))
		for key, want := range map[string]time.Duration{"a": firn.Forever, "b": firn.Forever, "c": time.Minute} {
			if ttl, _ := c.TTL([]byte(key)); ttl != want {
				t.Errorf("%s lives for %v: want %v", key, ttl, want)
			}
		}
	})
}

// What is said of a key that there is none of is an error, and of no other key. A load within a
// loader is another one.
func TestForKeyErrors(t *testing.T) {
	t.Parallel()
	c := harness.OpenSmall(t)
	var b firn.Batch
	err := c.GetOrLoadMulti(t.Context(), &b, keysOf("a b"), func(ctx context.Context, keys [][]byte) ([][]byte, error) {
		for _, i := range []int{-1, 2} {
			if err := firn.SetLoadTTL(firn.ForKey(ctx, i), time.Minute); err == nil {
				t.Errorf("key %d of 2 has a time to live", i)
			}
		}
		_, err := c.GetOrLoad(firn.ForKey(ctx, 1), nil, []byte("within"), func(ctx context.Context, _ []byte) ([]byte, error) {
			return []byte{}, firn.SetLoadTTL(ctx, time.Minute)
		})
		return [][]byte{{}, {}}, err
	})
	harness.Must(t, err)
	if err := firn.SetLoadTTL(firn.ForKey(t.Context(), 0), time.Minute); err == nil {
		t.Error("a context that is no loader's has keys")
	}
	for key, brief := range map[string]bool{"a": false, "b": false, "within": true} {
		if ttl, ok := c.TTL([]byte(key)); !ok || (ttl != firn.Forever) != brief {
			t.Errorf("%s lives for %v, %v", key, ttl, ok)
		}
	}
}
