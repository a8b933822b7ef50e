package loads

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/tests/harness"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

type account struct{ Name string }

// validating is a loader whose source says that nothing has changed, if it was given want.
func validating(t *testing.T, want string, meanwhile func(ctx context.Context)) firn.LoadFunc {
	return func(ctx context.Context, _ []byte) ([]byte, error) {
		v, ok := firn.CachedValue(ctx)
		if !ok {
			return []byte("new"), nil
		}
		if string(v) != want {
			t.Errorf("the loader was given %.20q, want %.20q", v, want)
		}
		if meanwhile != nil {
			meanwhile(ctx)
		}
		again, _ := firn.CachedValue(ctx)
		if string(again) != want {
			t.Errorf("the second time the loader was given %.20q, want %.20q", again, want)
		}
		return nil, fmt.Errorf("304: %w", firn.ErrNotModified)
	}
}

// A value that holds still is the answer, and lives on; what becomes of it meanwhile matters
// only if it was written.
func TestNotModified(t *testing.T) {
	k := []byte("k")
	for name, x := range map[string]struct {
		age       time.Duration
		meanwhile func(c *firn.Cache, ctx context.Context)
		want      string        // is there afterwards
		ttl       time.Duration // of that
	}{
		"fresh":   {30 * time.Second, nil, "v", time.Minute},
		"expired": {2 * time.Minute, nil, "v", time.Minute},
		"evicted": {2 * time.Minute, func(c *firn.Cache, _ context.Context) {
			for i := range 3000 {
				_ = c.Set(fmt.Append(nil, "other ", i), make([]byte, 1000))
			}
		}, "v", time.Minute},
		"an hour more": {2 * time.Minute, func(_ *firn.Cache, ctx context.Context) { _ = firn.SetLoadTTL(ctx, time.Hour) }, "v", time.Hour},
		"not kept":     {2 * time.Minute, func(_ *firn.Cache, ctx context.Context) { _ = firn.SetLoadTTL(ctx, 0) }, "", 0},
		"set":          {2 * time.Minute, func(c *firn.Cache, _ context.Context) { _ = c.Set(k, []byte("set")) }, "set", time.Minute},
		"deleted":      {2 * time.Minute, func(c *firn.Cache, _ context.Context) { _ = c.Delete(k) }, "", 0},
	} {
		for _, call := range []string{"GetOrLoad", "Refresh"} {
			if call == "GetOrLoad" && name == "fresh" {
				continue // a hit
			}
			t.Run(name+", "+call, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c := harness.OpenSmall(t, func(o *firn.Options) { o.TTL, o.Loading.StaleIfError = time.Minute, time.Hour })
					harness.Set(t, c, k, []byte("v"))
					time.Sleep(x.age)
					load := validating(t, "v", func(ctx context.Context) {
						if x.meanwhile != nil {
							x.meanwhile(c, ctx)
						}
					})
					var got []byte
					var err error
					if call == "Refresh" {
						got, err = c.Refresh(t.Context(), nil, k, load)
					} else {
						got, err = c.GetOrLoad(t.Context(), nil, k, load)
					}
					if err != nil || string(got) != "v" {
						t.Errorf("%s: %q, %v", call, got, err)
					}
					stored, ok := c.Get(nil, k)
					if ttl, _ := c.TTL(k); string(stored) != x.want || ok != (x.want != "") || ttl != x.ttl {
						t.Errorf("afterwards %q, %v for %v: want %q for %v", stored, ok, ttl, x.want, x.ttl)
					}
					if st := c.Stats().Loads; st.NotModified != 1 || st.Errors != 0 {
						t.Errorf("%d not modified, %d errors", st.NotModified, st.Errors)
					}
				})
			})
		}
	}
}

// A loader that was given nothing has nothing to keep: that is an error, and not one that
// an outer loader would say of its own value.
func TestNotModifiedOfNothing(t *testing.T) {
	t.Parallel()
	c := harness.OpenSmall(t)
	k := []byte("k")
	blind := func(context.Context, []byte) ([]byte, error) { return nil, firn.ErrNotModified }
	refused := func(what string, err error) {
		t.Helper()
		if err == nil || errors.Is(err, firn.ErrNotModified) || !strings.Contains(err.Error(), "was given no value") {
			t.Errorf("%s: %v", what, err)
		}
	}
	refused("of nothing", harness.Err(c.GetOrLoad(t.Context(), nil, k, blind)))
	harness.Set(t, c, k, []byte("v"))
	refused("of a value that it did not ask for", harness.Err(c.Refresh(t.Context(), nil, k, blind)))
	var b firn.Batch
	refused("in a bulk load", c.GetOrLoadMulti(t.Context(), &b, keysOf("k l"), func(ctx context.Context, _ [][]byte) ([][]byte, error) {
		if v, ok := firn.CachedValue(ctx); ok {
			t.Errorf("a bulk load was given %q", v)
		}
		return nil, firn.ErrNotModified
	}))
	_, err := c.Refresh(t.Context(), nil, k, func(ctx context.Context, _ []byte) ([]byte, error) {
		if _, ok := firn.CachedValue(ctx); !ok {
			t.Error("the outer loader was given nothing")
		}
		return c.GetOrLoad(ctx, nil, []byte("inner"), blind)
	})
	refused("of an inner load", err)
	if v, ok := firn.CachedValue(t.Context()); ok {
		t.Errorf("a context of nobody's gives %q", v)
	}
	if v, ok := c.Get(nil, k); !ok || string(v) != "v" {
		t.Errorf("%q, %v", v, ok)
	}
}

// A typed loader is given a decoded value; one of another type is none.
func TestTypedNotModified(t *testing.T) {
	t.Parallel()
	c := harness.OpenSmall(t)
	users := harness.NewTyped(t, c, "n", firn.TypedOptions[int, account]{})
	if err := users.Set(1, account{Name: "old"}); err != nil {
		t.Fatal(err)
	}
	u, err := users.Refresh(t.Context(), 1, func(ctx context.Context, _ int) (account, error) {
		if u, ok := users.CachedValue(ctx); !ok || u.Name != "old" {
			t.Errorf("the loader was given %+v, %v", u, ok)
		}
		return account{}, firn.ErrNotModified
	})
	if err != nil || u.Name != "old" {
		t.Errorf("%+v, %v", u, err)
	}
	if st := users.Stats(); st.Loads != 1 || st.LoadErrors != 0 {
		t.Errorf("%d loads, %d errors of them; want 1, 0", st.Loads, st.LoadErrors)
	}
	harness.Must(t, users.Close())
	texts := harness.NewTyped(t, c, "n", firn.TypedOptions[int, string]{})
	text, err := texts.Refresh(t.Context(), 1, func(ctx context.Context, _ int) (string, error) {
		if s, ok := texts.CachedValue(ctx); ok {
			t.Errorf("the loader of texts was given %q", s)
		}
		return "new", nil
	})
	if err != nil || text != "new" {
		t.Errorf("%q, %v", text, err)
	}
}

// A value that lies on the SSD alone is given to a loader, too.
func TestNotModifiedOverSSD(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := harness.OpenSmall(t, func(o *firn.Options) {
			o.Clock = time.Now
			o.SSD = harness.With(harness.On(firn.SSDOptions{Bytes: 16 << 20, SegmentBytes: 64 << 10, Admission: firn.AdmitAll}, vfstest.NewMem()), harness.Patiently)
		})
		const n = 6000 // twice what fits into RAM
		for i := range n {
			key, value := harness.Numbered(i)
			harness.Set(t, c, key, value)
		}
		synctest.Wait()
		given := 0
		for i := range n {
			key, value := harness.Numbered(i)
			if !c.Has(key) {
				continue
			}
			v, err := c.Refresh(t.Context(), nil, key, validating(t, string(value), nil))
			if err != nil || string(v) != string(value) {
				t.Fatalf("%s: %.20q, %v", key, v, err)
			}
			given++
		}
		if st := c.Stats(); given < n/2 || st.Loads.NotModified != uint64(given) {
			t.Errorf("%d values were there, %d not modified", given, st.Loads.NotModified)
		}
	})
}

// A value keeps its tags: what invalidates them ends it after it was kept, too.
func TestNotModifiedKeepsTags(t *testing.T) {
	t.Parallel()
	c := harness.OpenSmall(t)
	texts := harness.NewTyped(t, c, "n", firn.TypedOptions[int, string]{})
	given := 0
	load := func(ctx context.Context, _ int) (string, error) {
		if _, ok := texts.CachedValue(ctx); ok {
			given++
			return "", firn.ErrNotModified
		}
		return "v", firn.SetLoadTags(ctx, "tag")
	}
	for range 3 {
		if v, err := texts.Refresh(t.Context(), 1, load); err != nil || v != "v" {
			t.Errorf("%q, %v", v, err)
		}
	}
	if err := texts.InvalidateTag(t.Context(), "tag"); err != nil {
		t.Fatal(err)
	}
	if given != 2 || texts.Has(1) {
		t.Errorf("a loader was given the value %d times, want 2; after its tag was invalidated it is there: %v", given, texts.Has(1))
	}
	if _, err := texts.Refresh(t.Context(), 1, load); err != nil || given != 2 {
		t.Errorf("%v, given %d times: the value is obsolete", err, given)
	}
}
