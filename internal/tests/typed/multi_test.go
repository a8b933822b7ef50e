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
	"github.com/firncache/firn/internal/tests/harness"
	"github.com/firncache/firn/stats"
)

func neverLoad(context.Context, string) (string, error) {
	return "", errors.New("the loader was called")
}

// fussy is a codec that does not take one string.
type fussy struct{ firn.Codec[string] }

var errFussy, errGone = errors.New("bad"), errors.New("gone")

func (f fussy) Append(dst []byte, v string) ([]byte, error) {
	if v == "bad" {
		return dst, errFussy
	}
	return f.Codec.Append(dst, v)
}

func newFussy(t *testing.T, c *firn.Cache) *firn.Typed[string, string] {
	t.Helper()
	codec, err := firn.DefaultCodec[string]()
	if err != nil {
		t.Fatal(err)
	}
	return harness.NewTyped(t, c, "n", firn.TypedOptions[string, string]{Codec: fussy{codec}, KeyCodec: fussy{codec}})
}

func TestTypedMulti(t *testing.T) {
	t.Parallel()
	c := harness.OpenSmall(t)
	typed := harness.NewTyped(t, c, "n", spaceN)
	const n = 1000
	var keys, values []string
	for i := range n {
		keys, values = append(keys, fmt.Sprint("key ", i)), append(values, strings.Repeat("v", i%50))
	}
	if err := typed.SetMulti(ctx, keys, values); err != nil {
		t.Fatal(err)
	}
	var b firn.TypedBatch[string]
	look := func(want func(i int) bool) {
		t.Helper()
		if err := typed.GetMulti(t.Context(), &b, keys); err != nil {
			t.Fatal(err)
		}
		for i := range keys {
			if v, ok := b.Value(i); ok != want(i) || ok && v != values[i] {
				t.Fatalf("%s is %q, %v", keys[i], v, ok)
			}
		}
	}
	look(func(int) bool { return true })
	if got := typed.Len(); got != n {
		t.Errorf("%d entries, want %d", got, n)
	}
	if err := typed.DeleteMulti(ctx, append(keys[:300:300], "none")...); err != nil {
		t.Fatal(err)
	}
	look(func(i int) bool { return i >= 300 })
	if got := typed.Len(); got != n-300 {
		t.Errorf("%d entries, want %d", got, n-300)
	}
	if err := typed.SetMulti(ctx, keys, values[:3]); err == nil || !strings.Contains(err.Error(), "3 values for 1000 keys: want as many") {
		t.Errorf("values for other keys: %v", err)
	}
	want := stats.Namespace{Hits: n + n - 300, Misses: 300, Sets: n, Deletes: 301}
	if got := typed.Stats(); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// What can be encoded is stored, and deleted, and the first error told.
func TestTypedMultiErrors(t *testing.T) {
	t.Parallel()
	c := harness.OpenSmall(t)
	typed := newFussy(t, c)
	keys := []string{"a", "bad", "c", "d"}
	if err := typed.SetMulti(ctx, keys, []string{"1", "2", "bad", "4"}); !errors.Is(err, errFussy) {
		t.Errorf("SetMulti: %v", err)
	}
	var b firn.TypedBatch[string]
	if err := typed.GetMulti(t.Context(), &b, keys); !errors.Is(err, errFussy) {
		t.Errorf("GetMulti: %v", err)
	}
	var found []bool
	for i := range keys {
		_, ok := b.Value(i)
		found = append(found, ok)
	}
	if want := []bool{true, false, false, true}; !slices.Equal(found, want) {
		t.Errorf("found %v, want %v", found, want)
	}
	if err := typed.DeleteMulti(ctx, keys...); !errors.Is(err, errFussy) || typed.Len() != 0 {
		t.Errorf("DeleteMulti: %v, and %d entries are left", err, typed.Len())
	}
	if err := typed.SetMulti(ctx, []string{"a"}, []string{strings.Repeat("x", 1<<20)}); !errors.Is(err, firn.ErrTooLarge) {
		t.Errorf("too large: %v", err)
	}
	if s := typed.Stats(); s.Sets != 2 || s.Deletes != 3 {
		t.Errorf("got %+v", s)
	}
}

// unread is a codec that fails to decode one string so many times.
type unread struct {
	firn.Codec[string]
	fails *int
}

func (u unread) Decode(b []byte) (string, error) {
	v, err := u.Codec.Decode(b)
	if v == "bad" && *u.fails > 0 {
		*u.fails--
		return "", errFussy
	}
	return v, err
}

// A bulk load that loads once more what could not be decoded tells of the keys whose load failed
// before, and not of those that could be decoded in the end.
func TestTypedLoadMultiErrorsOfBothRounds(t *testing.T) {
	codec, err := firn.DefaultCodec[string]()
	harness.Must(t, err)
	for _, fails := range []int{1, 100} {
		synctest.Test(t, func(t *testing.T) {
			failsLeft := fails
			typed := harness.NewTyped(t, harness.OpenSmall(t), "n", firn.TypedOptions[string, string]{Codec: unread{codec, &failsLeft}})
			go typed.GetOrLoad(t.Context(), "slow", func(context.Context, string) (string, error) {
				time.Sleep(time.Second)
				return "", errGone
			})
			synctest.Wait()
			var b firn.TypedBatch[string]
			err := typed.GetOrLoadMulti(t.Context(), &b, []string{"slow", "k"}, func(context.Context, []string) (map[string]string, error) {
				return map[string]string{"k": "bad"}, nil
			})
			v, ok := b.Value(1)
			unread := err != nil && strings.Contains(err.Error(), "cannot be decoded")
			if !errors.Is(err, errGone) || ok != (fails == 1) || ok != (v == "bad") || ok == unread {
				t.Errorf("%d times: %q, %v, %v", fails, v, ok, err)
			}
		})
	}
}

// A bulk load that does nothing, as its context has ended, says so of its keys.
func TestTypedLoadMultiOutcomesOfCancelled(t *testing.T) {
	t.Parallel()
	typed := newTyped[string, string](t, harness.OpenSmall(t), "n")
	load := func(context.Context, []string) (map[string]string, error) {
		return map[string]string{"a": "v", "b": "v"}, nil
	}
	var b firn.TypedBatch[string]
	harness.Must(t, typed.GetOrLoadMulti(t.Context(), &b, []string{"a", "b"}, load))
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	err := typed.GetOrLoadMulti(cancelled, &b, []string{"c", "d"}, load)
	if o := b.Outcome(0); !errors.Is(err, context.Canceled) || o != firn.OutcomeNone || b.Outcome(1) != o {
		t.Errorf("%v and %v, %v", o, b.Outcome(1), err)
	}
}

// A batch of large values is encoded in parts.
func TestTypedMultiOfLargeValues(t *testing.T) {
	t.Parallel()
	c := harness.OpenSmall(t, func(o *firn.Options) { o.RAMBytes = 64 << 20 })
	typed := harness.NewTyped(t, c, "n", spaceN)
	var keys, values []string
	for i := range 40 {
		keys, values = append(keys, fmt.Sprint(i)), append(values, strings.Repeat(fmt.Sprint(i%10), 300<<10))
	}
	if err := typed.SetMulti(ctx, keys, values); err != nil {
		t.Fatal(err)
	}
	for i, key := range keys {
		if v, ok := typed.Get(key); !ok || v != values[i] {
			t.Errorf("%s: %d bytes, %v", key, len(v), ok)
		}
	}
}

func TestDeleteMulti(t *testing.T) {
	t.Parallel()
	c := harness.OpenSmall(t)
	var keys [][]byte
	for i := range 100 {
		key, value := harness.Numbered(i)
		keys = append(keys, key)
		if err := c.Set(key, value); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.DeleteMulti(ctx, append(keys[:70:70], []byte("none"))...); err != nil {
		t.Fatal(err)
	}
	for i, key := range keys {
		if c.Has(key) != (i >= 70) {
			t.Errorf("key %d is there: %v", i, c.Has(key))
		}
	}
	if s := c.Stats(); s.Deletes != 70 {
		t.Errorf("%d deletes, want 70", s.Deletes)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if err := c.DeleteMulti(ctx, keys...); !errors.Is(err, firn.ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}

// Each kind of call is counted once, in its own namespace.
func TestTypedStats(t *testing.T) {
	t.Parallel()
	c := harness.OpenSmall(t)
	typed, other := harness.NewTyped(t, c, "n", harness.WithFront(spaceN)), harness.NewTyped(t, c, "other", firn.TypedOptions[string, string]{})
	ctx := t.Context()
	load := func(v string, err error) firn.TypedLoadFunc[string, string] {
		return func(context.Context, string) (string, error) { return v, err }
	}
	var b firn.TypedBatch[string]
	var want stats.Namespace
	for _, step := range []struct {
		name string
		do   func()
		add  stats.Namespace
	}{
		{"Get of nothing", func() { typed.Get("k") }, stats.Namespace{Misses: 1}},
		{"Set", func() { typed.Set("k", "v") }, stats.Namespace{Sets: 1}},
		{"Get", func() { typed.Get("k") }, stats.Namespace{Hits: 1}},
		{"Get of the front", func() { typed.Get("k") }, stats.Namespace{FrontHits: 1}},
		{"Lookup of the front", func() { typed.Lookup(ctx, "k") }, stats.Namespace{FrontHits: 1}},
		{"Has", func() { typed.Has("k") }, stats.Namespace{}},
		{"Lookup of nothing", func() { typed.Lookup(ctx, "none") }, stats.Namespace{Misses: 1}},
		{"GetMulti", func() { typed.GetMulti(ctx, &b, []string{"k", "none", "nothing"}) }, stats.Namespace{FrontHits: 1, Misses: 2}},
		{"GetOrLoad", func() { typed.GetOrLoad(ctx, "loaded", load("v", nil)) }, stats.Namespace{Misses: 1, Loads: 1}},
		{"GetOrLoad of what is there", func() { typed.GetOrLoad(ctx, "loaded", neverLoad) }, stats.Namespace{Hits: 1}},
		{"a load that fails", func() { typed.GetOrLoad(ctx, "none", load("", errFussy)) }, stats.Namespace{Misses: 1, Loads: 1, LoadErrors: 1}},
		{"a load that finds nothing", func() { typed.GetOrLoad(ctx, "none", load("", firn.ErrNotFound)) }, stats.Namespace{Misses: 1, Loads: 1}},
		{"Refresh", func() { typed.Refresh(ctx, "k", load("w", nil)) }, stats.Namespace{Loads: 1}},
		{"SetIfAbsent", func() { typed.SetIfAbsent(ctx, "k", "x") }, stats.Namespace{Hits: 1}},
		{"Compute", func() {
			typed.Compute(ctx, "k", func(string, bool) (string, firn.Op) { return "x", firn.OpSet })
		}, stats.Namespace{Hits: 1, Sets: 1}},
		{"CompareAndSwap", func() { typed.CompareAndSwap(ctx, "k", "x", "y") }, stats.Namespace{Sets: 1}},
		{"GetAndDelete", func() { typed.GetAndDelete(ctx, "k") }, stats.Namespace{Hits: 1, Deletes: 1}},
		{"Compute of nothing", func() {
			typed.Compute(ctx, "k", func(string, bool) (string, firn.Op) { return "", firn.OpKeep })
		}, stats.Namespace{Misses: 1}},
		{"Delete", func() { typed.Delete("k") }, stats.Namespace{Deletes: 1}},
		{"GetOrLoadMulti", func() {
			typed.GetOrLoadMulti(ctx, &b, []string{"k", "loaded", "none"}, func(context.Context, []string) (map[string]string, error) { return nil, nil })
		}, stats.Namespace{FrontHits: 1, Misses: 2, Loads: 1}},
	} {
		step.do()
		want.Hits += step.add.Hits
		want.Misses += step.add.Misses
		want.FrontHits += step.add.FrontHits
		want.Sets += step.add.Sets
		want.Deletes += step.add.Deletes
		want.Loads += step.add.Loads
		want.LoadErrors += step.add.LoadErrors
		if got := typed.Stats(); got != want {
			t.Fatalf("after %s: %+v, want %+v", step.name, got, want)
		}
	}
	if got := other.Stats(); got != (stats.Namespace{}) {
		t.Errorf("another namespace: %+v", got)
	}
	second := harness.NewTyped(t, c, "n", spaceN)
	typed.Close()
	if got := second.Stats(); got != want {
		t.Errorf("another typed cache of the namespace: %+v, want %+v", got, want)
	}
	if got := c.Stats().FrontHits; got != want.FrontHits {
		t.Errorf("the cache counts %d front hits, want %d", got, want.FrontHits)
	}
	second.Close()
	if got := harness.NewTyped(t, c, "n", spaceN).Stats(); got != (stats.Namespace{}) {
		t.Errorf("after all were closed: %+v", got)
	}
}

// The counters of all namespaces in use have their names, whatever the types of their keys.
func TestStatsByNamespace(t *testing.T) {
	t.Parallel()
	c := harness.OpenSmall(t)
	names, numbers := harness.NewTyped(t, c, "n", spaceN), harness.NewTyped(t, c, "n", firn.TypedOptions[int, string]{})
	harness.NewTyped(t, c, "other", firn.TypedOptions[string, string]{})
	names.Get("k")
	numbers.Get(1)
	if all := c.StatsByNamespace(); len(all) != 2 || all["n"] != (stats.Namespace{Misses: 2}) || all["other"] != (stats.Namespace{}) {
		t.Errorf("%+v, want two misses in n, and nothing in other", all)
	}
}

func TestTypedStatsOfUnreadable(t *testing.T) {
	t.Parallel()
	c := harness.OpenSmall(t)
	later := harness.NewTyped(t, c, "n", firn.TypedOptions[string, string]{Version: 1})
	harness.Must(t, later.Set("k", "v"))
	harness.Must(t, later.Close())
	typed := harness.NewTyped(t, c, "n", spaceN)
	typed.Get("k")
	if s := typed.Stats(); s.Mismatches != 1 || s.Misses != 1 || s.Hits != 0 {
		t.Errorf("got %+v", s)
	}
	numbers := harness.NewTyped(t, c, "m", firn.TypedOptions[string, int]{Codec: renamed[int]{shortCodec{}, "short"}})
	numbers.Set("k", 1)
	numbers.Lookup(t.Context(), "k")
	if s := numbers.Stats(); s.DecodeErrors != 1 || s.Misses != 1 {
		t.Errorf("got %+v", s)
	}
}

// shortCodec reads nothing.
type shortCodec struct{}

func (shortCodec) Name() string                             { return "short" }
func (shortCodec) Append(dst []byte, _ int) ([]byte, error) { return append(dst, 1), nil }
func (shortCodec) Decode([]byte) (int, error)               { return 0, errFussy }
