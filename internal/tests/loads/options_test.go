package loads

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/tests/harness"
)

func TestLoadingOptionsRefused(t *testing.T) {
	for _, x := range []struct {
		ttl     time.Duration
		loading firn.LoadingOptions
		field   string
	}{
		{0, firn.LoadingOptions{TTLJitter: -0.1}, "TTLJitter"},
		{0, firn.LoadingOptions{TTLJitter: 1}, "TTLJitter"},
		{0, firn.LoadingOptions{TTLJitter: math.NaN()}, "TTLJitter"},
		{0, firn.LoadingOptions{NegativeTTL: -1}, "NegativeTTL"},
		{0, firn.LoadingOptions{NegativeTTL: math.MaxInt64}, "NegativeTTL"},
		{0, firn.LoadingOptions{ErrorTTL: -1}, "ErrorTTL"},
		{0, firn.LoadingOptions{RetryAfter: -1}, "RetryAfter"},
		{0, firn.LoadingOptions{NegativeTTL: 60}, "NegativeTTL"},
		{0, firn.LoadingOptions{HardTimeout: 30}, "HardTimeout"},
		{0, firn.LoadingOptions{RefreshAfter: time.Second}, "RefreshAfter"},
		{firn.Forever, firn.LoadingOptions{RefreshAfter: time.Second}, "RefreshAfter"},
		{time.Second, firn.LoadingOptions{RefreshAfter: time.Second}, "RefreshAfter"},
		{time.Second, firn.LoadingOptions{RefreshAfter: -time.Second}, "RefreshAfter"},
		{time.Second, firn.LoadingOptions{RefreshAfter: time.Second / 2, TTLJitter: 0.6}, "RefreshAfter"},
		{0, firn.LoadingOptions{StaleWhileRevalidate: -1}, "StaleWhileRevalidate"},
		{0, firn.LoadingOptions{StaleIfError: -1}, "StaleIfError"},
		{0, firn.LoadingOptions{StaleWhileRevalidate: time.Second, StaleIfError: time.Second}, "StaleIfError"},
		{0, firn.LoadingOptions{SoftTimeout: -1}, "SoftTimeout"},
		{0, firn.LoadingOptions{SoftTimeout: time.Second}, "SoftTimeout"},
		{0, firn.LoadingOptions{SoftTimeout: time.Second, StaleWhileRevalidate: time.Second}, "SoftTimeout"},
		{0, firn.LoadingOptions{HardTimeout: -1}, "HardTimeout"},
		{0, firn.LoadingOptions{HardTimeout: time.Second, SoftTimeout: time.Second, StaleIfError: time.Minute}, "HardTimeout"},
		{0, firn.LoadingOptions{MaxLoads: -1}, "MaxLoads"},
	} {
		c, err := firn.Open(firn.Options{RAMBytes: 1 << 20, TTL: x.ttl, Loading: x.loading})
		if err == nil {
			c.Close()
		}
		if want := "firn: Options.Loading." + x.field + " is "; err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("TTL %v, %+v: %v: want an error that begins with %q", x.ttl, x.loading, err, want)
		}
	}
	all := firn.LoadingOptions{
		TTLJitter: 0.1, NegativeTTL: time.Second, RefreshAfter: 40 * time.Second, StaleWhileRevalidate: time.Minute, StaleIfError: time.Hour,
		SoftTimeout: time.Second, HardTimeout: time.Minute, MaxLoads: 1, ErrorTTL: time.Second, RetryAfter: time.Second, CancelUnwanted: true,
	}
	harness.OpenSmall(t, func(o *firn.Options) { o.TTL, o.Loading = time.Minute, all })
}

// However much jitter takes from a short time to live, a value can be stored.
func TestJitterLeavesATimeToLive(t *testing.T) {
	c := harness.OpenSmall(t, func(o *firn.Options) { o.TTL, o.Loading.TTLJitter = time.Millisecond, 0.9 })
	for range 100 {
		harness.Must(t, c.Set([]byte("k"), nil))
		harness.Must(t, harness.Err(c.Refresh(t.Context(), nil, []byte("k"), func(context.Context, []byte) ([]byte, error) { return []byte("v"), nil })))
	}
}

// Jitter shortens what is stored with Options.TTL and what is loaded, each value
// by a part of its own, and leaves SetWithTTL alone.
func TestTTLJitter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := harness.OpenSmall(t, func(o *firn.Options) {
			o.TTL, o.Loading.TTLJitter = 1000*time.Second, 0.25
		})
		const n = 300
		key := func(i int) []byte { return fmt.Append(nil, i) }
		load := func(context.Context, []byte) ([]byte, error) { return []byte("v"), nil }
		loadOwn := func(ctx context.Context, _ []byte) ([]byte, error) {
			return []byte("v"), firn.SetLoadTTL(ctx, 1000*time.Second)
		}
		var keys, values [][]byte
		for i := range n {
			keys, values = append(keys, key(i)), append(values, []byte("v"))
		}
		each := func(f func(key []byte) error) func() error {
			return func() error {
				for _, k := range keys {
					if err := f(k); err != nil {
						return err
					}
				}
				return nil
			}
		}
		for name, store := range map[string]func() error{
			"Set":        each(func(k []byte) error { return c.Set(k, []byte("v")) }),
			"SetMulti":   func() error { return c.SetMulti(t.Context(), keys, values) },
			"GetOrLoad":  each(func(k []byte) error { _, err := c.GetOrLoad(t.Context(), nil, k, load); return err }),
			"SetLoadTTL": each(func(k []byte) error { _, err := c.GetOrLoad(t.Context(), nil, k, loadOwn); return err }),
			"Refresh":    each(func(k []byte) error { return harness.Err(c.Refresh(t.Context(), nil, k, load)) }),
		} {
			c.Clear(t.Context())
			if err := store(); err != nil {
				t.Fatal(name, err)
			}
			least, most, different := time.Duration(math.MaxInt64), time.Duration(0), map[time.Duration]bool{}
			for _, k := range keys {
				ttl, ok := c.TTL(k)
				if !ok {
					t.Fatalf("%s: %s is not there", name, k)
				}
				least, most, different[ttl] = min(least, ttl), max(most, ttl), true
			}
			// 300 even draws leave the outer tenths empty with a probability of 1e-13.
			if least < 750*time.Second || least > 775*time.Second || most > 1000*time.Second || most < 975*time.Second || len(different) < n/2 {
				t.Errorf("%s: %d different TTLs from %v to %v: want them spread from 750s to 1000s", name, len(different), least, most)
			}
		}
		if err := c.SetWithTTL(key(0), nil, 1000*time.Second); err != nil {
			t.Fatal(err)
		}
		if ttl, _ := c.TTL(key(0)); ttl != 1000*time.Second {
			t.Errorf("SetWithTTL: %v", ttl)
		}
	})
}

func TestLoaderSaysHowLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := harness.OpenSmall(t, func(o *firn.Options) { o.TTL = time.Minute })
		for _, ttl := range []time.Duration{time.Second, firn.Forever, time.Hour, time.Millisecond} {
			k := fmt.Append(nil, ttl)
			_, err := c.GetOrLoad(t.Context(), nil, k, func(ctx context.Context, _ []byte) ([]byte, error) {
				inner, cancel := context.WithTimeout(ctx, time.Second)
				defer cancel()
				return []byte("v"), firn.SetLoadTTL(inner, ttl)
			})
			if got, ok := c.TTL(k); err != nil || !ok || got != ttl {
				t.Errorf("SetLoadTTL(%v): %v, %v, %v", ttl, got, ok, err)
			}
		}
		refused := func(name string, err error, want string) {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v: want an error with %q", name, err, want)
			}
		}
		refused("SetLoadTTL", firn.SetLoadTTL(t.Context(), time.Second), "SetLoadTTL: the context is not a loader's")
		_, err := c.GetOrLoad(t.Context(), nil, []byte("k"), func(ctx context.Context, _ []byte) ([]byte, error) {
			return nil, firn.SetLoadTTL(ctx, 101*365*24*time.Hour)
		})
		refused("SetLoadTTL of 101 years", err, "firn: SetLoadTTL: time to live is 884760h0m0s: want")
	})
}

// What a loader does not want to be kept is not, and nothing older either: with a time
// to live of 0 or less, unless it says otherwise afterwards.
func TestLoaderWantsNothingKept(t *testing.T) {
	for _, ttl := range []time.Duration{0, -1, -time.Hour, -firn.Forever} {
		t.Run(fmt.Sprint(ttl), func(t *testing.T) { testNothingKept(t, ttl) })
	}
	c := harness.OpenSmall(t)
	_, err := c.GetOrLoad(t.Context(), nil, []byte("k"), func(ctx context.Context, _ []byte) ([]byte, error) {
		return []byte("v"), errors.Join(firn.SetLoadTTL(ctx, 0), firn.SetLoadTTL(ctx, firn.Forever))
	})
	if err != nil || !c.Has([]byte("k")) {
		t.Errorf("%v, kept: %v", err, c.Has([]byte("k")))
	}
}

func testNothingKept(t *testing.T, ttl time.Duration) {
	synctest.Test(t, func(t *testing.T) {
		c := harness.OpenSmall(t, func(o *firn.Options) { o.Loading.NegativeTTL = time.Minute })
		var answer error
		calls := 0
		load := func(ctx context.Context, key []byte) ([]byte, error) {
			calls++
			if err := firn.SetLoadTTL(ctx, ttl); err != nil {
				return nil, err
			}
			return []byte("secret"), answer
		}
		for range 2 {
			if v, err := c.GetOrLoad(t.Context(), nil, []byte("k"), load); err != nil || string(v) != "secret" || c.Has([]byte("k")) {
				t.Errorf("%q, %v, kept: %v", v, err, c.Has([]byte("k")))
			}
		}
		c.Set([]byte("k"), []byte("old"))
		if v, err := c.Refresh(t.Context(), nil, []byte("k"), load); err != nil || string(v) != "secret" || c.Has([]byte("k")) {
			t.Errorf("Refresh: %q, %v, kept: %v", v, err, c.Has([]byte("k")))
		}
		var b firn.Batch
		err := c.GetOrLoadMulti(t.Context(), &b, keysOf("l m"), func(ctx context.Context, _ [][]byte) ([][]byte, error) {
			return [][]byte{[]byte("secret"), nil}, firn.SetLoadTTL(ctx, ttl)
		})
		if err != nil || show(&b) != "secret -" || c.Len() != 0 {
			t.Errorf("GetOrLoadMulti: %q, %v, %d entries", show(&b), err, c.Len())
		}
		answer = firn.ErrNotFound
		for range 2 {
			if _, err := c.GetOrLoad(t.Context(), nil, []byte("k"), load); err != firn.ErrNotFound {
				t.Error(err)
			}
		}
		if calls != 5 {
			t.Errorf("%d loads, want 5: the ErrNotFound was remembered", calls)
		}
	})
}
