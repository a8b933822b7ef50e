package typed

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/firncache/firn/internal/local"
	"github.com/firncache/firn/internal/registry"
	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/internal/shared/sharedtest"
	"github.com/firncache/firn/internal/store"
)

// What is known of a value's tags says whether it is obsolete, or since when it is stale: an
// invalidated tag counts before an expired one, the earlier of two, and none that is not known, nor
// of a value without the seal.
func TestJudgeShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := new(store.Store)
		if err := c.Open(store.Config{Config: local.Config{RAMBytes: 1 << 20}, Shared: sharedtest.NewServer().Tier()}); err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		ctx, numbers := t.Context(), c.Numbers()
		tags := new(Tags)
		tags.Open(c)
		place := func(name string) registry.ID {
			id := registry.TagOf("space", name)
			return id.SharedPlace()
		}
		expire := func(name string, now int64) {
			if _, err := numbers.Expire(ctx, place(name), now); err != nil {
				t.Fatal(err)
			}
		}
		head, err := tags.AppendNow(ctx, nil, "space", []string{"a", "b"})
		if err != nil {
			t.Fatal(err)
		}
		forged := append(Head(nil), head...)
		forged[noteAt]++
		want := func(when string, obsolete bool, since int64) {
			t.Helper()
			if o, s := judgeShared(numbers, Head(head)); o != obsolete || s != since {
				t.Errorf("%s: %v, %d: want %v, %d", when, o, s, obsolete, since)
			}
			if o, s := judgeShared(numbers, forged); o || s != 0 {
				t.Errorf("%s: %v, %d without the seal", when, o, s)
			}
		}
		want("new", false, 0)
		expire("b", 2000)
		want("one tag has expired", false, 2000)
		expire("a", 1000)
		want("both have, the first earlier", false, 1000)
		expire("b", 3000)
		want("one has again", false, 1000)
		numbers.Invalidate(place("a"))
		want("one is not known", false, 2000)
		if _, err := numbers.Renew(context.Background(), place("a")); err != nil {
			t.Fatal(err)
		}
		want("one is invalidated", true, 0)
		for range shared.MaxFormer {
			expire("b", 4000)
		}
		numbers.Invalidate(place("a"))
		want("one has expired too often", true, 0)
	})
}
