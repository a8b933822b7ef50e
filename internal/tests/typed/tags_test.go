// Package typed tests typed caches through their public calls.
package typed

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/firncache/firn"
)

func tagNames(n int) (tags []string) {
	for i := range n {
		tags = append(tags, fmt.Sprint("tag ", i))
	}
	return tags
}

// A value may have 16 tags, of which each invalidates it, in RAM and on the SSD, also where it is
// compressed, or lies in parts.
func TestSixteenTags(t *testing.T) {
	for name, o := range map[string]firn.Options{
		"RAM":        {RAMBytes: 4 << 20},
		"SSD":        {RAMBytes: 4 << 20, SSD: firn.SSDOptions{Bytes: 32 << 20, SegmentBytes: 64 << 10, Admission: firn.AdmitAll}},
		"compressed": {RAMBytes: 4 << 20, SSD: firn.SSDOptions{Bytes: 32 << 20, SegmentBytes: 64 << 10, Admission: firn.AdmitAll, Compress: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if o.SSD.Bytes > 0 {
				o.SSD.Dir = t.TempDir()
			}
			c := open(t, o)
			typed := newTyped[string, string](t, c, "n")
			tags := tagNames(firn.MaxTags)
			if len(tags) != 16 {
				t.Fatalf("MaxTags is %d", len(tags))
			}
			for i, tag := range tags {
				for _, n := range []int{1, 2000, 300_000} {
					key := fmt.Sprint(i, "/", n)
					must(t, typed.SetWith(ctx, key, strings.Repeat("v", n), firn.SetOptions{Tags: tags}))
				}
				if o.SSD.Bytes > 0 { // on the SSD alone
					must(t, c.Close())
					c = open(t, o)
					typed = newTyped[string, string](t, c, "n")
				}
				for _, n := range []int{1, 2000, 300_000} {
					if v, ok := typed.Get(fmt.Sprint(i, "/", n)); !ok || len(v) != n {
						t.Errorf("%d bytes, before %s: %d, %v", n, tag, len(v), ok)
					}
				}
				must(t, typed.InvalidateTag(ctx, tag))
				for _, n := range []int{1, 2000, 300_000} {
					if _, ok := typed.Get(fmt.Sprint(i, "/", n)); ok {
						t.Errorf("%d bytes are found after %s was invalidated", n, tag)
					}
				}
			}
		})
	}
}

// A loader that names more tags than a value may have is no failure: its value goes to the
// caller, is not kept, and is counted. One whose tags make no sense is kept neither, be it that
// it goes on.
func TestTooManyTagsOfLoad(t *testing.T) {
	c := open(t, firn.Options{RAMBytes: 1 << 20})
	typed := newTyped[string, string](t, c, "n")
	for name, test := range map[string]struct {
		tags  []string
		calls int // of two requests
		fails bool
		count uint64
	}{
		"sixteen":   {tagNames(16), 1, false, 0},
		"seventeen": {tagNames(17), 2, false, 2},
		"none":      {[]string{""}, 2, true, 0},
	} {
		before := c.Stats().TagOverflows
		l := &loader{tags: test.tags}
		for range 2 {
			if v, err := typed.GetOrLoad(t.Context(), name, l.load); err != nil || v != "value of "+name {
				t.Errorf("%s: %q, %v", name, v, err)
			}
		}
		if n := c.Stats().TagOverflows - before; l.calls != test.calls || (l.named != nil) != test.fails || n != test.count {
			t.Errorf("%s: %d loads, SetLoadTags returned %v, %d were counted: want %d, %v, %d", name, l.calls, l.named, n, test.calls, test.fails, test.count)
		}
	}
}

// What is remembered of a key that has no value is forgotten when a tag of it is invalidated,
// also while it is loaded; and nobody who comes after that gets the old answer.
func TestTagsOfNotFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := open(t, firn.Options{RAMBytes: 1 << 20, Clock: time.Now, Loading: firn.LoadingOptions{NegativeTTL: time.Hour}})
		typed := newTyped[string, string](t, c, "n")
		l := &loader{tags: []string{"product"}, err: firn.ErrNotFound}
		want := func(when string, calls int) {
			t.Helper()
			if _, err := typed.GetOrLoad(t.Context(), "k", l.load); !errors.Is(err, firn.ErrNotFound) || l.calls != calls {
				t.Fatalf("%s: %v, %d loads, want %d", when, err, l.calls, calls)
			}
		}
		want("at first", 1)
		want("remembered", 1)
		must(t, typed.InvalidateTag(ctx, "other"))
		want("with another tag invalidated", 1)
		must(t, typed.InvalidateTag(ctx, "product"))
		want("invalidated", 2)
		want("remembered again", 2)
		must(t, typed.InvalidateTag(ctx, "product"))
		l.ask = func() { must(t, typed.InvalidateTag(ctx, "product")) }
		want("invalidated while it is loaded", 3)
		l.ask = nil
		want("not remembered", 4)

		must(t, typed.InvalidateTag(ctx, "product"))
		asked, held := make(chan struct{}), make(chan struct{})
		l.ask = func() { close(asked); <-held }
		go typed.GetOrLoad(context.Background(), "k", l.load)
		<-asked
		must(t, typed.InvalidateTag(ctx, "product"))
		l.ask, l.err = nil, nil
		joined := make(chan string)
		go func() {
			v, _ := typed.GetOrLoad(context.Background(), "k", func(context.Context, string) (string, error) { return "created", nil })
			joined <- v
		}()
		synctest.Wait() // it waits for the load from before
		l.err = firn.ErrNotFound
		close(held)
		if v := <-joined; v != "created" {
			t.Errorf("who came after the invalidation got %q", v)
		}
	})
}

// A raw value that begins like a tagged one is a value like others: whatever it says of tags, it
// is kept and found.
func TestRawValueLikeTagged(t *testing.T) {
	c := open(t, firn.Options{RAMBytes: 1 << 20})
	typed := newTyped[string, string](t, c, "n")
	must(t, typed.SetWith(ctx, "k", "v", firn.SetOptions{Tags: []string{"a"}}))
	var head []byte
	for _, value := range c.All() {
		head = append(head, value...)
	}
	for i := range 20 { // whatever the clock and the tag that it says
		must(t, typed.InvalidateTag(ctx, fmt.Sprint(i)))
	}
	for at := 5; at < 25; at++ {
		forged := append([]byte(nil), head...)
		forged[at] ^= 0x5a
		calls := 0
		load := func(context.Context, []byte) ([]byte, error) {
			calls++
			return forged, nil
		}
		key := fmt.Append(nil, "raw ", at)
		for range 2 {
			if v, err := c.GetOrLoad(t.Context(), nil, key, load); err != nil || string(v) != string(forged) {
				t.Errorf("byte %d: %x, %v", at, v, err)
			}
		}
		if calls != 1 {
			t.Errorf("byte %d: it was loaded %d times", at, calls)
		}
	}
}

// A cache without references to it is collected, also once tags were used, and before the hard
// timeout of a load would have been over.
func TestForgottenCacheIsCollected(t *testing.T) {
	forget := func() weak.Pointer[firn.Cache] {
		c, err := firn.Open(firn.Options{RAMBytes: 1 << 20, Loading: firn.LoadingOptions{HardTimeout: time.Hour}})
		must(t, err)
		typed := newTyped[string, string](t, c, "n")
		must(t, typed.SetWith(ctx, "k", "v", firn.SetOptions{Tags: []string{"a"}}))
		must(t, typed.InvalidateTag(ctx, "a"))
		must(t, typed.Clear(ctx))
		_, err = typed.GetOrLoad(t.Context(), "k", func(context.Context, string) (string, error) { return "v", nil })
		must(t, err)
		return weak.Make(c)
	}
	for p := forget(); p.Value() != nil; {
		runtime.GC()
		runtime.Gosched()
	}
}
