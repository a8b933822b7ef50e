package loads

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/invariants"
	"github.com/firncache/firn/internal/tests/harness"
)

// An ErrNotFound is remembered, and no call but those that load sees a trace.
func TestNegative(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var left []string
		c := harness.OpenSmall(t, func(o *firn.Options) {
			o.TTL, o.Loading.NegativeTTL = time.Hour, 10*time.Second
			o.OnEvict = func(key, _ []byte, cause firn.Cause) { left = append(left, fmt.Sprintf("%s %v", key, cause)) }
		})
		k := []byte("k")
		s := &source{err: firn.ErrNotFound}
		for range 3 {
			s.expect(t, c, "", firn.ErrNotFound)
		}
		var b firn.Batch
		if err := c.GetOrLoadMulti(t.Context(), &b, [][]byte{k}, nil); err != nil || show(&b) != "-" {
			t.Errorf("GetOrLoadMulti: %q, %v", show(&b), err)
		}
		if n := c.Stats().Loads.NegativeHits; s.count() != 1 || n != 3 {
			t.Errorf("%d loads and %d negative hits, want 1 and 3", s.count(), n)
		}
		if _, ok := c.Get(nil, k); ok {
			t.Error("Get finds it")
		}
		if c.GetMulti(t.Context(), &b, [][]byte{k}); show(&b) != "-" {
			t.Error("GetMulti finds it")
		}
		if _, err := c.Lookup(t.Context(), nil, k); err != firn.ErrNotFound {
			t.Errorf("Lookup: %v", err)
		}
		if _, ok := c.TTL(k); ok || c.Has(k) {
			t.Error("TTL or Has find it")
		}
		for key := range c.All() {
			t.Errorf("All yields %q", key)
		}
		time.Sleep(10*time.Second - time.Millisecond)
		s.expect(t, c, "", firn.ErrNotFound)
		if s.count() != 1 {
			t.Error("forgotten too early")
		}
		time.Sleep(time.Millisecond)
		s.fail(nil)
		s.expect(t, c, "v2", nil)
		time.Sleep(time.Minute)
		if left != nil {
			t.Errorf("OnEvict was told of %q", left)
		}
	})
}

// Every write of the key ends what is remembered.
func TestNegativeEnds(t *testing.T) {
	k := []byte("k")
	for name, x := range map[string]struct {
		write func(c *firn.Cache) error
		want  string // of the next GetOrLoad
	}{
		"Set":        {func(c *firn.Cache) error { return c.Set(k, []byte("set")) }, "set"},
		"Set empty":  {func(c *firn.Cache) error { return c.Set(k, nil) }, ""},
		"SetWithTTL": {func(c *firn.Cache) error { return c.SetWithTTL(k, []byte{}, time.Hour) }, ""},
		"SetMulti":   {func(c *firn.Cache) error { return c.SetMulti(t.Context(), [][]byte{k}, [][]byte{[]byte("set")}) }, "set"},
		"Delete":     {func(c *firn.Cache) error { return c.Delete(k) }, "v2"},
		"Clear":      {func(c *firn.Cache) error { return c.Clear(t.Context()) }, "v2"},
		"Refresh": {func(c *firn.Cache) error {
			return harness.Err(c.Refresh(context.Background(), nil, k, harness.Value("new")))
		}, "new"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := harness.OpenSmall(t, func(o *firn.Options) { o.Loading.NegativeTTL = time.Minute })
				s := &source{err: firn.ErrNotFound}
				s.expect(t, c, "", firn.ErrNotFound)
				s.fail(nil)
				s.expect(t, c, "", firn.ErrNotFound)
				if err := x.write(c); err != nil {
					t.Fatal(err)
				}
				s.expect(t, c, x.want, nil)
				if v, ok := c.Get(nil, k); !ok || string(v) != x.want {
					t.Errorf("Get: %q, %v", v, ok)
				}
			})
		})
	}
}

// A write that begins while the loader finds nothing wins.
func TestNegativeRaces(t *testing.T) {
	k := []byte("k")
	for name, write := range map[string]func(c *firn.Cache) error{
		"Set":    func(c *firn.Cache) error { return c.Set(k, []byte("set")) },
		"Delete": func(c *firn.Cache) error { return c.Delete(k) },
		"Clear":  func(c *firn.Cache) error { return c.Clear(t.Context()) },
		"Close":  func(c *firn.Cache) error { return c.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := harness.OpenSmall(t, func(o *firn.Options) { o.Loading.NegativeTTL = time.Minute })
				s := &source{slow: time.Second, err: firn.ErrNotFound}
				want := map[string]error{"Close": firn.ErrClosed}[name]
				if want == nil {
					want = firn.ErrNotFound
				}
				go s.expect(t, c, "", want)
				synctest.Wait()
				if err := write(c); err != nil {
					t.Fatal(err)
				}
				time.Sleep(2 * time.Second)
				s.fail(nil)
				switch name {
				case "Set":
					s.expect(t, c, "set", nil)
				case "Close":
					s.expect(t, c, "", firn.ErrClosed)
				default:
					s.expect(t, c, "v2", nil)
				}
			})
		})
	}
}

// Any number of keys without a value may be asked for: they share the budget,
// and leave by themselves.
func TestNegativeStaysInBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := harness.OpenSmall(t, func(o *firn.Options) { o.Loading.NegativeTTL = time.Minute })
		load := func(context.Context, []byte) ([]byte, error) { return nil, firn.ErrNotFound }
		n := 50_000          // several times what fits
		if invariants.Race { // where bytes move by atomic words
			n = 20_000
		}
		for i := range n {
			if _, err := c.GetOrLoad(t.Context(), nil, fmt.Append(nil, "a key without a value ", i), load); err != firn.ErrNotFound {
				t.Fatal(err)
			}
		}
		s := c.Stats()
		if s.RAM.UsedBytes > s.RAM.Bytes || s.Evictions == 0 || s.Entries < 5000 {
			t.Errorf("%d of %d bytes, %d evicted, %d entries", s.RAM.UsedBytes, s.RAM.Bytes, s.Evictions, s.Entries)
		}
		before := s.Loads.Count
		for i := n - 1000; i < n; i++ {
			c.GetOrLoad(t.Context(), nil, fmt.Append(nil, "a key without a value ", i), load)
		}
		if again := c.Stats().Loads.Count - before; again > 500 {
			t.Errorf("%d of the last 1000 keys were loaded again", again)
		}
		time.Sleep(2 * time.Minute)
		if n := c.Len(); n != 0 {
			t.Errorf("%d entries are left when their time is over", n)
		}
	})
}
