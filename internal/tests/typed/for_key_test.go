package typed

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/tests/harness"
)

// Each value of a bulk load may have tags of its own, and what is remembered of a key without one.
func TestForKeyTags(t *testing.T) {
	onTagTiers(t, func(t *testing.T, typed *firn.Typed[string, string]) {
		var calls []string
		load := func(ctx context.Context, keys []string) (map[string]string, error) {
			calls = append(calls, strings.Join(keys, " "))
			values := map[string]string{}
			for i, k := range keys {
				switch k {
				case "usual":
				case "none":
					if err := firn.SetLoadTags(firn.ForKey(ctx, i)); err != nil {
						return nil, err
					}
				default:
					if err := firn.SetLoadTags(firn.ForKey(ctx, i), "of "+k, "own"); err != nil {
						return nil, err
					}
				}
				if k != "absent" {
					values[k] = "value of " + k
				}
			}
			return values, firn.SetLoadTags(ctx, "all")
		}
		keys := []string{"usual", "one", "none", "absent", "two"}
		for _, test := range []struct{ tag, again string }{
			{"no such", "usual one none absent two"}, // they are loaded for the first time
			{"of one", "one"},
			{"all", "usual"},
			{"of absent", "absent"},
			{"own", "one absent two"},
		} {
			invalidate(t, typed, test.tag)
			calls = nil
			var b firn.TypedBatch[string]
			if err := typed.GetOrLoadMulti(t.Context(), &b, keys, load); err != nil {
				t.Fatal(err)
			}
			for i, k := range keys {
				if v, ok := b.Value(i); ok != (k != "absent") || ok && v != "value of "+k {
					t.Errorf("%s is %q, %v", k, v, ok)
				}
			}
			if fmt.Sprint(calls) != "["+test.again+"]" {
				t.Errorf("after %s was invalidated, %q were loaded: want %q", test.tag, calls, test.again)
			}
		}
	}, func(o *firn.Options) { o.Clock, o.Loading.NegativeTTL = time.Now, time.Hour })
}

// Too many tags of one value, or wrong ones, keep that value from being stored, whatever time to live
// it has, and no other. Those of all values are no matter to one that has its own.
func TestForKeyTooManyTags(t *testing.T) {
	t.Parallel()
	c := harness.OpenSmall(t)
	typed := harness.NewTyped(t, c, "n", firn.TypedOptions[string, string]{})
	many := strings.Split(strings.Repeat("x ", firn.MaxTags)+"x", " ")
	var failed error
	load := func(own string, tags, all []string) firn.TypedMultiLoadFunc[string, string] {
		return func(ctx context.Context, keys []string) (map[string]string, error) {
			values := map[string]string{}
			for i, k := range keys {
				values[k] = k
				if k == own {
					failed = firn.SetLoadTags(firn.ForKey(ctx, i), tags...)
					harness.Must(t, firn.SetLoadTTL(firn.ForKey(ctx, i), time.Hour))
				}
			}
			return values, firn.SetLoadTags(ctx, all...)
		}
	}
	for _, test := range []struct {
		name      string
		own, all  []string
		kept      string
		fails     bool
		overflows uint64
	}{
		{"many", many, nil, "b c", false, 1},
		{"wrong", []string{""}, nil, "b c", true, 0},
		{"many of all", []string{"t"}, many, "a", false, 2},
	} {
		before := c.Stats().TagOverflows
		var b firn.TypedBatch[string]
		keys := []string{"a", "b", "c"}
		if err := typed.GetOrLoadMulti(t.Context(), &b, keys, load("a", test.own, test.all)); err != nil {
			t.Fatal(err)
		}
		var kept []string
		for i, k := range keys {
			if v, _ := b.Value(i); v != k {
				t.Errorf("%s: %s is %q", test.name, k, v)
			}
			if typed.Has(k) {
				kept = append(kept, k)
			}
		}
		if n := c.Stats().TagOverflows - before; strings.Join(kept, " ") != test.kept || n != test.overflows || (failed != nil) != test.fails {
			t.Errorf("%s: %q are kept, %d counted, SetLoadTags returned %v: want %q, %d, an error: %v", test.name, kept, n, failed, test.kept, test.overflows, test.fails)
		}
		harness.Must(t, typed.DeleteMulti(t.Context(), keys...))
	}
	if err := firn.SetLoadTags(firn.ForKey(t.Context(), 0), "t"); err == nil {
		t.Error("a context that is no loader's has keys")
	}
}
