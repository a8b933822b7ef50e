package remote_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/remote"
	"github.com/firncache/firn/remote/internal/servertest"
)

// cache is one of several on the same server.
func cache(t *testing.T, addr string, o remote.Options) *firn.Cache {
	t.Helper()
	o.Addrs, o.Namespace, o.Timeout = []string{addr}, "caches", servertest.Patience
	o.Log = slog.New(slog.NewTextHandler(t.Output(), nil))
	shared, err := remote.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	c, err := firn.Open(firn.Options{RAMBytes: 1 << 20, Shared: shared})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// What one cache writes, another finds: at first what it has, then the new value, and no older one
// after it.
func TestTwoCaches(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	a, b := cache(t, s.Addr, remote.Options{}), cache(t, s.Addr, remote.Options{})
	key := []byte("k")
	if value, ok := b.Get(nil, key); ok {
		t.Fatalf("%q before it was written", value)
	}
	before, began := "", time.Now()
	for i := range 100 {
		now := fmt.Sprint(i)
		write := func() error { return a.SetWith(t.Context(), key, []byte(now), firn.SetOptions{}) }
		if i%10 == 9 {
			now, write = "", func() error { return a.DeleteMulti(t.Context(), key) }
		}
		if err := write(); err != nil {
			t.Fatal(err)
		}
		if value, _ := a.Get(nil, key); string(value) != now {
			t.Fatalf("%q to him who wrote %q", value, now)
		}
		for {
			value, _ := b.Get(nil, key)
			if string(value) == now {
				break
			}
			if string(value) != before {
				t.Fatalf("%q: want %q or %q", value, before, now)
			}
			if time.Since(began) > servertest.Patience {
				t.Fatalf("%q is not seen", now)
			}
		}
		before = now
	}
}

// Three processes whose source goes down after a tag has expired go on with the old values, and have
// the new one when it is back.
func TestTagsExpireInAllCaches(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	errSource, down := errors.New("the source is down"), true
	var all []*firn.Typed[int, string]
	for range 3 {
		typed, err := firn.NewTyped(cache(t, s.Addr, remote.Options{}), "rows", firn.TypedOptions[int, string]{
			Loading: firn.LoadingOptions{StaleIfError: time.Hour, RetryAfter: time.Millisecond},
		})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, typed)
	}
	load := func(ctx context.Context, key int) (string, error) {
		if down {
			return "", errSource
		}
		return "new", firn.SetLoadTags(ctx, "table")
	}
	if err := all[0].SetWith(t.Context(), 1, "old", firn.SetOptions{Tags: []string{"table"}}); err != nil {
		t.Fatal(err)
	}
	if v, _ := all[1].Get(1); v != "old" { // the third has no copy
		t.Fatalf("%q before", v)
	}
	if err := all[0].ExpireTag(t.Context(), "table"); err != nil {
		t.Fatal(err)
	}
	for i, typed := range all {
		e, err := typed.GetOrLoadEntry(t.Context(), 1, load)
		for began := time.Now(); i > 0 && e.Outcome == firn.OutcomeHit && time.Since(began) < servertest.Patience; { // within the bound
			e, err = typed.GetOrLoadEntry(t.Context(), 1, load)
		}
		if err != nil || e.Value != "old" || e.Outcome != firn.OutcomeStale {
			t.Errorf("process %d: %q, %v, %v", i, e.Value, e.Outcome, err)
		}
	}
	down = false
	for i, typed := range all {
		v, err := typed.GetOrLoad(t.Context(), 1, load)
		for began := time.Now(); v != "new" && time.Since(began) < servertest.Patience; { // the pause after an error, and the bound
			v, err = typed.GetOrLoad(t.Context(), 1, load)
		}
		if err != nil || v != "new" {
			t.Errorf("process %d: %q, %v of a source that is back", i, v, err)
		}
	}
}
