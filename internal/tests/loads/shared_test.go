package loads

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/shared/sharedtest"
	"github.com/firncache/firn/internal/tests/harness"
)

// openProcess opens a cache above a server that others share. It is used in a bubble.
func openProcess(t *testing.T, server *sharedtest.Server, change ...func(*firn.Options)) (*firn.Cache, *sharedtest.Tier) {
	t.Helper()
	tier := server.Tier()
	c := harness.OpenSmall(t, append(change, func(o *firn.Options) { o.Shared, o.Clock = tier, time.Now })...)
	return c, tier
}

// A miss takes two requests: a lease, which is also the look-up, and the store. In another
// process it takes one.
func TestRequestsOfLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := sharedtest.NewServer()
		a, tierOfA := openProcess(t, server)
		b, tierOfB := openProcess(t, server)
		texts := map[*firn.Cache]*firn.Typed[int, string]{}
		for _, c := range []*firn.Cache{a, b} {
			typed, err := firn.NewTyped(c, "texts", firn.TypedOptions[int, string]{})
			if err != nil {
				t.Fatal(err)
			}
			if err := typed.Set(0, "so that its namespace is known"); err != nil {
				t.Fatal(err)
			}
			texts[c] = typed
		}
		bytes := func(c *firn.Cache) error {
			return harness.Err(c.GetOrLoad(t.Context(), nil, []byte("k"), harness.Value("v")))
		}
		typed := func(c *firn.Cache) error {
			return harness.Err(texts[c].GetOrLoad(t.Context(), 1, func(context.Context, int) (string, error) { return "v", nil }))
		}
		for name, get := range map[string]func(c *firn.Cache) error{"Cache": bytes, "Typed": typed} {
			for i, want := range []int{2, 0} {
				before := tierOfA.Calls()
				if err := get(a); err != nil {
					t.Error(err)
				}
				if n := tierOfA.Calls() - before; n != want {
					t.Errorf("%s, call %d: %d requests, want %d", name, i, n, want)
				}
			}
			before := tierOfB.Calls()
			if err := get(b); err != nil {
				t.Error(err)
			}
			if n := tierOfB.Calls() - before; n != 1 {
				t.Errorf("%s: %d requests for what is there, want 1", name, n)
			}
		}
		if n := b.Stats().Loads.Count; n != 0 {
			t.Errorf("%d loads", n)
		}
	})
}

// A bulk load does not wait for a shared tier twice that does not answer.
func TestBulkLoadWaitsForServerOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, tier := openProcess(t, sharedtest.NewServer())
		typed, err := firn.NewTyped(c, "texts", firn.TypedOptions[int, string]{})
		if err != nil {
			t.Fatal(err)
		}
		if err := typed.Set(0, "so that its namespace is known"); err != nil {
			t.Fatal(err)
		}
		tier.SetSilent(true)
		for name, load := range map[string]func(called func()) error{
			"Cache": func(called func()) error {
				var b firn.Batch
				return c.GetOrLoadMulti(t.Context(), &b, keysOf("1"), func(_ context.Context, keys [][]byte) ([][]byte, error) {
					called()
					return keys, nil
				})
			},
			"Typed": func(called func()) error {
				var b firn.TypedBatch[string]
				return typed.GetOrLoadMulti(t.Context(), &b, []int{1}, func(context.Context, []int) (map[int]string, error) {
					called()
					return map[int]string{1: "v"}, nil
				})
			},
		} {
			began := time.Now()
			if err := load(func() {
				if d := time.Since(began); d != time.Second {
					t.Errorf("%s: the loader is called after %v, want 1s", name, d)
				}
			}); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// A slow loader against what another process does: a value with a tag that was invalidated
// meanwhile is no answer to anybody who comes later, in any process.
func TestTagInvalidatedElsewhereDuringLoad(t *testing.T) {
	for _, late := range []bool{false, true} {
		t.Run(fmt.Sprintf("tags set late: %v", late), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := sharedtest.NewServer()
				var both [2]*firn.Typed[int, string]
				for i := range both {
					c, _ := openProcess(t, server)
					typed, err := firn.NewTyped(c, "texts", firn.TypedOptions[int, string]{})
					if err != nil {
						t.Fatal(err)
					}
					both[i] = typed
				}
				answer := make(chan error, 1)
				load := func(v string, slow time.Duration) firn.TypedLoadFunc[int, string] {
					return func(ctx context.Context, _ int) (string, error) {
						if !late {
							if err := firn.SetLoadTags(ctx, "tag"); err != nil {
								return "", err
							}
						}
						time.Sleep(slow)
						return v, firn.SetLoadTags(ctx, "tag")
					}
				}
				go func() {
					v, err := both[0].GetOrLoad(t.Context(), 1, load("old", time.Second))
					if v != "old" {
						err = errors.Join(err, fmt.Errorf("the caller gets %q", v))
					}
					answer <- err
				}()
				time.Sleep(500 * time.Millisecond)
				if err := both[1].InvalidateTag(t.Context(), "tag"); err != nil {
					t.Fatal(err)
				}
				if err := <-answer; err != nil {
					t.Error(err)
				}
				synctest.Wait()
				for i, typed := range both {
					if v, ok := typed.Get(1); ok {
						t.Errorf("process %d has %q", i, v)
					}
				}
				for i := range both {
					if v, err := both[1-i].GetOrLoad(t.Context(), 1, load("new", 0)); v != "new" || err != nil {
						t.Errorf("process %d: %q, %v", 1-i, v, err)
					}
				}
			})
		})
	}
}
