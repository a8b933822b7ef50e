package loads

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/invariants"
	"github.com/firncache/firn/internal/tests/harness"
)

// entryCalls are GetOrLoadEntry and LookupEntry of one key of a cache.
type entryCalls struct {
	load   func(ctx context.Context, load func(ctx context.Context) (string, error)) string
	lookup func(ctx context.Context) string
	loaded func(ctx context.Context) error // GetOrLoadEntry of a value that is there
}

// showEntry is an answer as these tests have it.
func showEntry(value string, ttl time.Duration, tier firn.Tier, o firn.Outcome, err error) string {
	return fmt.Sprintf("%s %v %v %d: %v", value, o, ttl, tier, err)
}

func bytesCalls(c *firn.Cache) entryCalls {
	show := func(e firn.Entry, err error) string { return showEntry(string(e.Value), e.TTL, e.Tier, e.Outcome, err) }
	buf, key := make([]byte, 0, 64), []byte("k")
	return entryCalls{
		func(ctx context.Context, load func(ctx context.Context) (string, error)) string {
			return show(c.GetOrLoadEntry(ctx, nil, []byte("k"), func(ctx context.Context, _ []byte) ([]byte, error) {
				v, err := load(ctx)
				return []byte(v), err
			}))
		},
		func(ctx context.Context) string { return show(c.LookupEntry(ctx, nil, []byte("k"))) },
		func(ctx context.Context) error {
			_, err := c.GetOrLoadEntry(ctx, buf, key, nil)
			return err
		},
	}
}

func typedCalls(t *testing.T, c *firn.Cache, o firn.TypedOptions[string, string]) entryCalls {
	typed, err := firn.NewTyped(c, "outcomes", o)
	harness.Must(t, err)
	show := func(e firn.TypedEntry[string], err error) string {
		return showEntry(e.Value, e.TTL, e.Tier, e.Outcome, err)
	}
	return entryCalls{
		func(ctx context.Context, load func(ctx context.Context) (string, error)) string {
			return show(typed.GetOrLoadEntry(ctx, "k", func(ctx context.Context, _ string) (string, error) { return load(ctx) }))
		},
		func(ctx context.Context) string { return show(typed.LookupEntry(ctx, "k")) },
		func(ctx context.Context) error {
			_, err := typed.GetOrLoadEntry(ctx, "k", nil)
			return err
		},
	}
}

// eachEntryCalls runs a test on bytes, and on typed values with and without hot ones.
func eachEntryCalls(t *testing.T, loading firn.LoadingOptions, test func(t *testing.T, calls entryCalls)) {
	for name, calls := range map[string]func(t *testing.T, c *firn.Cache) entryCalls{
		"bytes": func(_ *testing.T, c *firn.Cache) entryCalls { return bytesCalls(c) },
		"typed": func(t *testing.T, c *firn.Cache) entryCalls {
			return typedCalls(t, c, firn.TypedOptions[string, string]{HotValues: -1})
		},
		"hot": func(t *testing.T, c *firn.Cache) entryCalls {
			return typedCalls(t, c, firn.TypedOptions[string, string]{})
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := harness.OpenSmall(t, func(o *firn.Options) { o.TTL, o.Loading = time.Minute, loading })
				test(t, calls(t, c))
			})
		})
	}
}

// Each outcome of GetOrLoadEntry, and those of LookupEntry.
func TestOutcomes(t *testing.T) {
	loading := firn.LoadingOptions{NegativeTTL: time.Second, StaleWhileRevalidate: time.Minute, StaleIfError: time.Hour, RetryAfter: time.Second}
	eachEntryCalls(t, loading, func(t *testing.T, calls entryCalls) {
		ctx := t.Context()
		want := func(step, got, want string) {
			t.Helper()
			if got != want {
				t.Errorf("%s: %s, want %s", step, got, want)
			}
		}
		gives := func(v string, err error) func(context.Context) (string, error) {
			return func(context.Context) (string, error) { return v, err }
		}
		want("nothing", calls.lookup(ctx), " none 0s 0: "+firn.ErrNotFound.Error())
		want("a loader without a value", calls.load(ctx, gives("", firn.ErrNotFound)), " loaded 0s 0: "+firn.ErrNotFound.Error())
		want("remembered", calls.load(ctx, gives("1", nil)), " negative 0s 0: "+firn.ErrNotFound.Error())
		time.Sleep(2 * time.Second)
		want("a loader that fails", calls.load(ctx, gives("", errors.New("down"))), " loaded 0s 0: down")

		release := make(chan struct{})
		first, second := make(chan string), make(chan string)
		wait := func(context.Context) (string, error) { <-release; return "1", nil }
		go func() { first <- calls.load(ctx, wait) }()
		synctest.Wait()
		go func() { second <- calls.load(ctx, nil) }()
		ended, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		want("a context that ends", calls.load(ended, nil), " none 0s 0: "+context.DeadlineExceeded.Error())
		close(release)
		want("the first", <-first, "1 loaded 0s 0: <nil>")
		want("the second", <-second, "1 joined 0s 0: <nil>")

		want("a hit", calls.load(ctx, nil), "1 hit 1m0s 2: <nil>")
		want("looked up", calls.lookup(ctx)[:5], "1 hit")
		time.Sleep(61 * time.Second)
		want("expired", calls.lookup(ctx), " none 0s 0: "+firn.ErrNotFound.Error())
		want("stale", calls.load(ctx, gives("", errors.New("down"))), "1 stale 0s 0: <nil>")
		synctest.Wait()
		time.Sleep(time.Hour / 2)
		want("stale, as the load failed", calls.load(ctx, gives("", errors.New("down"))), "1 stale 0s 0: <nil>")
		want("stale, as the load failed a moment ago", calls.load(ctx, gives("2", nil)), "1 stale 0s 0: <nil>")
	})
}

// A hit allocates nothing.
func TestOutcomeAllocations(t *testing.T) {
	if invariants.Race {
		t.Log("not run under the race detector, which allocates")
		return
	}
	eachEntryCalls(t, firn.LoadingOptions{}, func(t *testing.T, calls entryCalls) {
		ctx := context.Background()
		if got := calls.load(ctx, func(context.Context) (string, error) { return "", nil }); got != " loaded 0s 0: <nil>" {
			t.Fatal(got)
		}
		for range 3 {
			harness.Must(t, calls.loaded(ctx))
		}
		if n := testing.AllocsPerRun(100, func() { _ = calls.loaded(ctx) }); n != 0 {
			t.Errorf("%v allocations, want none", n)
		}
	})
}
