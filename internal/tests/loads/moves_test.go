package loads

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/tests/harness"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// A Refresh stores what its loader brings, whatever becomes of the key's record
// meanwhile: only a write of the key wins over it.
func TestRefreshOfWhatMoves(t *testing.T) {
	key := []byte("refreshed")
	const near = 20 // keys whose records lie beside it
	others := func(c *firn.Cache, from, to int) {
		for i := from; i < to; i++ {
			if err := c.Set(fmt.Append(nil, "other ", i), make([]byte, 300)); err != nil {
				t.Fatal(err)
			}
		}
	}
	meanwhile := map[string]func(t *testing.T, c *firn.Cache){
		"moved": func(t *testing.T, c *firn.Cache) { // what lies among the dead is moved to make room
			for i := range near {
				c.Delete(fmt.Append(nil, "other ", i))
			}
			others(c, near, 5000)
		},
		"pushed out": func(t *testing.T, c *firn.Cache) { others(c, near, 10_000) },
		"pushed out and read again": func(t *testing.T, c *firn.Cache) {
			others(c, near, 10_000)
			c.Get(nil, key)
		},
	}
	for name, move := range meanwhile {
		for _, tiers := range []string{"RAM", "RAM and SSD"} {
			for _, found := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s, %s, found %v", name, tiers, found), func(t *testing.T) {
					t.Parallel()
					opts := firn.Options{RAMBytes: 1 << 20}
					if tiers != "RAM" {
						opts.SSD = harness.With(harness.On(firn.SSDOptions{Bytes: 16 << 20, SegmentBytes: 64 << 10, Admission: firn.AdmitAll}, vfstest.NewMem()), harness.Patiently)
					}
					c, err := firn.Open(opts)
					if err != nil {
						t.Fatal(err)
					}
					defer c.Close()
					if err := c.Set(key, []byte("old")); err != nil {
						t.Fatal(err)
					}
					others(c, 0, near)
					loaded, err := c.Refresh(t.Context(), nil, key, func(context.Context, []byte) ([]byte, error) {
						move(t, c)
						if !found {
							return nil, firn.ErrNotFound
						}
						return []byte("new"), nil
					})
					v, ok := c.Get(nil, key)
					switch {
					case found && (err != nil || string(loaded) != "new" || string(v) != "new"):
						t.Errorf("Refresh: %q, %v, then %q, %v: want the new value", loaded, err, v, ok)
					case !found && (!errors.Is(err, firn.ErrNotFound) || ok):
						t.Errorf("Refresh: %v, then %q: want none", err, v)
					}
				})
			}
		}
	}
}

// A write of the key during the load wins, also one of which nothing is left to
// be seen when the load ends.
func TestWritesOfNothingWin(t *testing.T) {
	key := []byte("k")
	for name, write := range map[string]func(c *firn.Cache) error{
		"Delete of nothing": func(c *firn.Cache) error { return c.Delete(key) },
		"Clear of nothing":  func(c *firn.Cache) error { return c.Clear(t.Context()) },
		"Set and Delete":    func(c *firn.Cache) error { return errors.Join(c.Set(key, nil), c.Delete(key)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := harness.OpenSmall(t)
			v, err := c.GetOrLoad(t.Context(), nil, key, func(context.Context, []byte) ([]byte, error) {
				return []byte("from before"), write(c)
			})
			if err != nil || string(v) != "from before" {
				t.Errorf("the caller: %q, %v", v, err)
			}
			if v, ok := c.Get(nil, key); ok {
				t.Errorf("%q was stored", v)
			}
		})
	}
}

// A Set that fails is a Delete: what a load brings that began before may be older.
func TestSetThatFailsVoidsLoads(t *testing.T) {
	c, key := harness.OpenSmall(t), []byte("k")
	v, err := c.GetOrLoad(t.Context(), nil, key, func(context.Context, []byte) ([]byte, error) {
		if err := c.Set(key, make([]byte, 1<<20)); !errors.Is(err, firn.ErrTooLarge) {
			t.Errorf("Set: %v", err)
		}
		return []byte("v"), nil
	})
	if err != nil || !bytes.Equal(v, []byte("v")) || c.Has(key) {
		t.Errorf("%q, %v, stored: %v", v, err, c.Has(key))
	}
}

// Who asks after a write does not join the load from before, though the writer,
// another than the last, has not told that load yet.
func TestSupersededLoadIsNotJoined(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, key := harness.OpenSmall(t), []byte("k")
		go c.GetOrLoad(t.Context(), nil, key, after(time.Minute, "old"))
		synctest.Wait()
		harness.WriteUndetached(c, key)
		if v, err := c.GetOrLoad(t.Context(), nil, key, harness.Value("new")); err != nil || string(v) != "new" {
			t.Errorf("%q, %v: want the value of a new load", v, err)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if v, ok := c.Get(nil, key); !ok || string(v) != "new" {
			t.Errorf("afterwards: %q, %v", v, ok)
		}
	})
}
