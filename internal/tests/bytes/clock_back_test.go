package bytes

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/cachetest"
	"github.com/firncache/firn/internal/tests/harness"
)

// That a key has no value stays an answer without a value, and a value one that
// expires, if the clock steps back before the time of Open.
func TestClockBeforeOpen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // lest anything be swept
		for _, back := range []time.Duration{time.Second, time.Minute, 24 * time.Hour, 50 * 365 * 24 * time.Hour} {
			clock := &cachetest.Clock{}
			c := harness.Open(t, firn.Options{RAMBytes: 1 << 20, Clock: clock.Now, Loading: firn.LoadingOptions{NegativeTTL: time.Minute}})
			clock.Advance(-back)
			absent := func(context.Context, []byte) ([]byte, error) { return nil, firn.ErrNotFound }
			key, short := []byte("key"), []byte("short")
			if _, err := c.GetOrLoad(t.Context(), nil, key, absent); err != firn.ErrNotFound {
				t.Fatal(err)
			}
			if v, ok := c.Get(nil, key); ok || c.Has(key) {
				t.Errorf("%v before Open, a key without a value has %q", back, v)
			}
			if _, err := c.GetOrLoad(t.Context(), nil, key, absent); err != firn.ErrNotFound || c.Stats().Loads.NegativeHits != 1 {
				t.Errorf("%v before Open: %v, %d negative hits", back, err, c.Stats().Loads.NegativeHits)
			}
			if err := c.SetWithTTL(short, []byte("value"), 2*time.Second); err != nil {
				t.Fatal(err)
			}
			for want := 2 * time.Second; want > 0; want -= time.Second {
				if ttl, ok := c.TTL(short); !ok || ttl != want {
					t.Errorf("%v before Open: %v are left, %v: want %v", back, ttl, ok, want)
				}
				clock.Advance(time.Second)
			}
			if c.Has(short) {
				t.Errorf("%v before Open: a value outlives its deadline", back)
			}
		}
	})
}
