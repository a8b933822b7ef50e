package typed

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/cachetest"
	"github.com/firncache/firn/internal/tests/harness"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

func setTagged[K comparable, V any](t testing.TB, typed *firn.Typed[K, V], key K, v V, tags ...string) {
	t.Helper()
	if err := typed.SetWith(ctx, key, v, firn.SetOptions{Tags: tags}); err != nil {
		t.Fatal(err)
	}
}

func invalidate[K comparable, V any](t testing.TB, typed *firn.Typed[K, V], tag string) {
	t.Helper()
	if err := typed.InvalidateTag(ctx, tag); err != nil {
		t.Fatal(err)
	}
}

// taggedReads are the ways to read a key, each of which tells whether it found the value.
var taggedReads = map[string]func(typed *firn.Typed[string, string], key string) (string, bool){
	"Get": func(typed *firn.Typed[string, string], key string) (string, bool) { return typed.Get(key) },
	"Lookup": func(typed *firn.Typed[string, string], key string) (string, bool) {
		v, err := typed.Lookup(context.Background(), key)
		return v, err == nil
	},
	"Has": func(typed *firn.Typed[string, string], key string) (string, bool) {
		return "value of " + key, typed.Has(key)
	},
	"TTL": func(typed *firn.Typed[string, string], key string) (string, bool) {
		_, ok := typed.TTL(key)
		return "value of " + key, ok
	},
	"GetMulti": func(typed *firn.Typed[string, string], key string) (string, bool) {
		var b firn.TypedBatch[string]
		typed.GetMulti(ctx, &b, []string{"absent", key})
		return b.Value(1)
	},
	"GetOrLoad": func(typed *firn.Typed[string, string], key string) (string, bool) {
		v, err := typed.GetOrLoad(context.Background(), key, func(context.Context, string) (string, error) { return "", firn.ErrNotFound })
		return v, err == nil
	},
	"GetOrLoadMulti": func(typed *firn.Typed[string, string], key string) (string, bool) {
		var b firn.TypedBatch[string]
		_ = typed.GetOrLoadMulti(context.Background(), &b, []string{key}, func(context.Context, []string) (map[string]string, error) { return nil, nil })
		return b.Value(0)
	},
	"All": func(typed *firn.Typed[string, string], key string) (string, bool) {
		for k, v := range typed.All() {
			if k == key {
				return v, true
			}
		}
		return "", false
	},
}

// Every read finds a value until one of its tags is invalidated, and no read does then; a
// value without the tag, or of another namespace, stays.
func TestInvalidateTag(t *testing.T) {
	t.Parallel()
	opts := firn.TypedOptions[string, string]{}
	for place, prepare := range map[string]func(t *testing.T, c *firn.Cache, typed *firn.Typed[string, string]){
		"RAM": nil,
		"SSD": func(t *testing.T, c *firn.Cache, _ *firn.Typed[string, string]) { harness.Demote(t, c) },
		"front": func(t *testing.T, _ *firn.Cache, typed *firn.Typed[string, string]) {
			for _, key := range []string{"one", "four", "other", "none"} {
				typed.Lookup(t.Context(), key)
			}
		},
	} {
		for name, read := range taggedReads {
			t.Run(place+"/"+name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					var c *firn.Cache
					opts := opts
					if place == "SSD" {
						c = harness.OpenOn(t, vfstest.NewMem())
					} else {
						c = harness.OpenSmall(t)
					}
					if place == "front" {
						opts = harness.WithFront(opts)
					}
					typed := harness.NewTyped(t, c, "n", opts)
					elsewhere := harness.NewTyped(t, c, "elsewhere", firn.TypedOptions[string, string]{})
					setTagged(t, typed, "one", "value of one", "a")
					setTagged(t, typed, "four", "value of four", "b", "c", "a", strings.Repeat("d", 255))
					setTagged(t, typed, "other", "value of other", "b")
					setTagged(t, typed, "none", "value of none")
					setTagged(t, elsewhere, "one", "value of one", "a")
					if prepare != nil {
						prepare(t, c, typed)
					}
					check := func(of *firn.Typed[string, string], key string, want bool) {
						t.Helper()
						if v, ok := read(of, key); ok != want || ok && v != "value of "+key {
							t.Errorf("%s of %s: %q, %v, want %v", name, key, v, ok, want)
						}
					}
					for _, key := range []string{"one", "four", "other", "none"} {
						check(typed, key, true)
					}
					invalidate(t, typed, "unknown")
					check(typed, "one", true)
					invalidate(t, typed, "a")
					check(typed, "one", false)
					check(typed, "four", false)
					check(typed, "other", true)
					check(typed, "none", true)
					check(elsewhere, "one", true)
					setTagged(t, typed, "one", "value of one", "a")
					check(typed, "one", true)
				})
			})
		}
	}
}

// A read that finds a value of which a tag was invalidated counts as a miss, and deletes it.
func TestTagMisses(t *testing.T) {
	var left []string
	c := harness.OpenSmall(t, func(o *firn.Options) {
		o.OnEvict = func(_, _ []byte, cause firn.Cause) { left = append(left, cause.String()) }
	})
	typed := harness.NewTyped(t, c, "n", firn.TypedOptions[string, string]{})
	setTagged(t, typed, "k", "v", "a")
	typed.Get("k")
	invalidate(t, typed, "a")
	before, entries := c.Stats(), c.Len()
	typed.Get("k")
	if s := c.Stats(); s.TagMisses != 1 || s.Misses != before.Misses+1 || s.Hits != before.Hits || s.Mismatches != 0 {
		t.Errorf("%d tag misses, %d more misses, %d more hits, %d mismatches: want 1, 1, 0, 0", s.TagMisses, s.Misses-before.Misses, s.Hits-before.Hits, s.Mismatches)
	}
	if n := c.Len(); n != entries-1 || !slices.Equal(left, []string{"deleted"}) {
		t.Errorf("%d entries, want %d; left: %v", n, entries-1, left)
	}
	if _, err := typed.Lookup(t.Context(), "k"); !errors.Is(err, firn.ErrNotFound) {
		t.Error(err)
	}
}

// make17 are more tags than a value may have, and the last one is that of no other value.
func make17() (tags []string) {
	for i := range firn.MaxTags + 1 {
		tags = append(tags, fmt.Sprint("tag ", i))
	}
	return tags
}

func TestTagErrors(t *testing.T) {
	c := harness.OpenSmall(t)
	typed := harness.NewTyped(t, c, "n", firn.TypedOptions[string, string]{})
	set := func(tags ...string) error { return typed.SetWith(ctx, "k", "v", firn.SetOptions{Tags: tags}) }
	for _, bad := range []struct {
		err  error
		want string
	}{
		{set(make17()...), "firn: SetOptions.Tags: too many tags: 17, want at most 16"},
		{set("a", ""), `firn: SetOptions.Tags: tag 1: "" has 0 bytes: want 1 to 255`},
		{set(strings.Repeat("x", 256)), `firn: SetOptions.Tags: tag 0: "xxxxxxxxxxxxxxxxxxxx" has 256 bytes: want 1 to 255`},
		{typed.InvalidateTag(ctx, ""), `firn: InvalidateTag: "" has 0 bytes: want 1 to 255`},
		{firn.SetLoadTags(t.Context(), "a"), "not that of a typed cache's loader"},
		{typed.SetWith(ctx, "k", "v", firn.SetOptions{TTL: -1}), "time to live is -1ns: want 1ms to"},
	} {
		if bad.err == nil || !strings.Contains(bad.err.Error(), bad.want) {
			t.Errorf("%v, want %q", bad.err, bad.want)
		}
	}
	if typed.Has("k") {
		t.Error("a value was stored")
	}
	load := func(ctx context.Context, _ string) (string, error) { return "v", firn.SetLoadTags(ctx, "") }
	if _, err := typed.GetOrLoad(t.Context(), "k", load); err == nil || err.Error() != `firn: SetLoadTags: tag 0: "" has 0 bytes: want 1 to 255` {
		t.Error(err)
	}
	bytes := func(ctx context.Context, _ []byte) ([]byte, error) { return nil, firn.SetLoadTags(ctx, "a") }
	if _, err := c.GetOrLoad(t.Context(), nil, []byte("k"), bytes); err == nil {
		t.Error("a loader of bytes set tags")
	}
	nested := func(ctx context.Context, _ string) (string, error) {
		_, err := c.GetOrLoad(ctx, nil, []byte("k"), bytes)
		return "", err
	}
	if _, err := typed.GetOrLoad(t.Context(), "k", nested); err == nil {
		t.Error("a loader of bytes set the tags of the loader that called it")
	}
	c.Close()
	if err := typed.InvalidateTag(ctx, "a"); !errors.Is(err, firn.ErrClosed) {
		t.Errorf("InvalidateTag after Close: %v, want ErrClosed", err)
	}
	if err := set("a"); !errors.Is(err, firn.ErrClosed) {
		t.Errorf("SetWith after Close: %v, want ErrClosed", err)
	}
}

// TTL of SetOptions, and what stands in its place.
func TestSetWithTTL(t *testing.T) {
	var clock cachetest.Clock
	c := harness.OpenSmall(t, func(o *firn.Options) { o.Clock = clock.Now })
	typed := harness.NewTyped(t, c, "n", firn.TypedOptions[string, string]{TTL: time.Minute})
	for _, tags := range [][]string{nil, {"a"}} {
		for ttl, want := range map[time.Duration]time.Duration{0: time.Minute, time.Second: time.Second, firn.Forever: firn.Forever} {
			if err := typed.SetWith(ctx, "k", "v", firn.SetOptions{TTL: ttl, Tags: tags}); err != nil {
				t.Fatal(err)
			}
			if got, ok := typed.TTL("k"); !ok || got != want {
				t.Errorf("tags %v, TTL %v: %v, %v, want %v", tags, ttl, got, ok, want)
			}
		}
	}
	setTagged(t, typed, "k", "v", "a")
	clock.Advance(time.Hour)
	if typed.Has("k") {
		t.Error("an expired value is found")
	}
}

// However many tags there are, all values are found, until their tag is invalidated, or one that
// shares its place.
func TestManyTags(t *testing.T) {
	c := harness.OpenSmall(t, func(o *firn.Options) { o.RAMBytes = 4 << 20 })
	typed := harness.NewTyped(t, c, "n", firn.TypedOptions[int, int]{})
	const n = 20_000
	for i := range n {
		setTagged(t, typed, i, i, fmt.Sprint("tag ", i))
	}
	for i := range n {
		if v, ok := typed.Get(i); !ok || v != i {
			t.Fatalf("key %d: %d, %v", i, v, ok)
		}
	}
	lost := 0
	for i := range 10 {
		invalidate(t, typed, fmt.Sprint("tag ", i))
		if typed.Has(i) {
			t.Fatalf("key %d is found after its tag was invalidated", i)
		}
	}
	for i := 10; i < n; i++ {
		if _, ok := typed.Get(i); !ok {
			lost++
		}
	}
	if s := c.Stats(); lost > n/20 || s.TagMisses != uint64(lost) {
		t.Errorf("%d of %d values are lost with 10 places of 1024, and %d tag misses", lost, n, s.TagMisses)
	}
}

// Values of which a tag was invalidated do not go to the SSD, nor stay in RAM, when room is
// needed.
func TestInvalidatedLeave(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := harness.OpenOn(t, vfstest.NewMem())
		typed := harness.NewTyped(t, c, "n", firn.TypedOptions[int, []byte]{})
		const n = 1000
		for i := range n {
			setTagged(t, typed, i, make([]byte, 100), "a")
			typed.Get(i) // worth keeping
		}
		invalidate(t, typed, "a")
		for i := 0; c.Stats().RAM.TagEvictions < n && i < 20_000; i++ {
			key, value := harness.Numbered(i)
			if err := c.Set(key, value); err != nil {
				t.Fatal(err)
			}
		}
		s := c.Stats()
		for k := range c.All() {
			if len(k) == 16 {
				t.Fatalf("an invalidated value is there still: %+v", s)
			}
		}
		if s.RAM.TagEvictions != n {
			t.Errorf("%d left for their tag, want %d", s.RAM.TagEvictions, n)
		}
	})
}

// Values of which a tag was invalidated are not saved when the cache is closed.
func TestInvalidatedIsNotSaved(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fs := vfstest.NewMem()
		c := harness.OpenOn(t, fs)
		typed := harness.NewTyped(t, c, "n", firn.TypedOptions[int, string]{})
		setTagged(t, typed, 1, "one", "a")
		setTagged(t, typed, 2, "two", "b")
		setTagged(t, typed, 3, "three")
		invalidate(t, typed, "a")
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		c = harness.OpenOn(t, fs)
		if n := c.Len(); n != 2 {
			t.Errorf("%d entries are there after a restart, want 2", n)
		}
		typed = harness.NewTyped(t, c, "n", firn.TypedOptions[int, string]{})
		if typed.Has(1) || !typed.Has(2) || !typed.Has(3) {
			t.Errorf("found after a restart: %v, %v, %v, want all but the first", typed.Has(1), typed.Has(2), typed.Has(3))
		}
		invalidate(t, typed, "b")
		if typed.Has(2) {
			t.Error("a tag cannot be invalidated after a restart")
		}
	})
}

// A value on the SSD of which a tag was invalidated does not come to RAM when it is read, and
// goes from there.
func TestInvalidatedIsNotPromoted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := harness.OpenOn(t, vfstest.NewMem())
		typed := harness.NewTyped(t, c, "n", firn.TypedOptions[int, string]{})
		setTagged(t, typed, 1, "one", "a")
		harness.Demote(t, c)
		invalidate(t, typed, "a")
		before := c.Stats()
		if _, ok := typed.Get(1); ok {
			t.Error("it is found")
		}
		s := c.Stats()
		if s.SSD.Hits != before.SSD.Hits+1 || s.SSD.Promotions != before.SSD.Promotions || s.SSD.Entries != before.SSD.Entries-1 {
			t.Errorf("%d reads of the SSD, %d promotions, %d entries there: want 1, 0 and one less than %d",
				s.SSD.Hits-before.SSD.Hits, s.SSD.Promotions-before.SSD.Promotions, s.SSD.Entries, before.SSD.Entries)
		}
	})
}

// What changes a value by what it is takes one of which a tag was invalidated for absent, and
// keeps the tags with the deadline.
func TestTagsAndCompute(t *testing.T) {
	c := harness.OpenSmall(t)
	typed := harness.NewTyped(t, c, "n", firn.TypedOptions[string, int]{})
	ctx := t.Context()
	setTagged(t, typed, "k", 1, "a")
	if n, err := firn.Increment(ctx, typed, "k", 1); n != 2 || err != nil {
		t.Errorf("Increment: %d, %v, want 2", n, err)
	}
	if ok, err := typed.CompareAndSwap(ctx, "k", 2, 3); !ok || err != nil {
		t.Errorf("CompareAndSwap: %v, %v", ok, err)
	}
	invalidate(t, typed, "a")
	if v, ok := typed.Get("k"); ok {
		t.Errorf("%d is found: the tag was lost", v)
	}
	for name, change := range map[string]func() (any, error){
		"Increment":      func() (any, error) { return firn.Increment(ctx, typed, "k", 5) },
		"SetIfAbsent":    func() (any, error) { return typed.SetIfAbsent(ctx, "k", 5) },
		"CompareAndSwap": func() (any, error) { ok, err := typed.CompareAndSwap(ctx, "k", 1, 5); return !ok, err },
		"GetAndDelete": func() (any, error) {
			_, err := typed.GetAndDelete(ctx, "k")
			return errors.Is(err, firn.ErrNotFound), nil
		},
		"Touch": func() (any, error) { ok, err := typed.Touch(ctx, "k", time.Hour); return !ok, err },
	} {
		setTagged(t, typed, "k", 1, "a")
		invalidate(t, typed, "a")
		if v, err := change(); err != nil || v != true && v != 5 {
			t.Errorf("%s of an invalidated value: %v, %v", name, v, err)
		}
	}
}
