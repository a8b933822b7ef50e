package loads

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/tests/harness"
)

// bulkCalls are the bulk calls of a cache, on bytes or on values.
type bulkCalls struct {
	load, get func(keys string) error
	outcomes  func() string
	slow      func() // another caller's load of "slow"
}

// bulkLoad is the source: of "gone" and "none" it has no value, and "slow" takes a second.
func bulkLoad(key string) []byte {
	switch key {
	case "slow":
		time.Sleep(time.Second)
	case "gone", "none":
		return nil
	}
	return []byte("v")
}

func bulkOfBytes(t *testing.T, c *firn.Cache) bulkCalls {
	var b firn.Batch
	load := func(_ context.Context, keys [][]byte) (values [][]byte, err error) {
		for _, k := range keys {
			values = append(values, bulkLoad(string(k)))
		}
		return values, nil
	}
	return bulkCalls{
		func(keys string) error { return c.GetOrLoadMulti(t.Context(), &b, keysOf(keys), load) },
		func(keys string) error { return c.GetMulti(t.Context(), &b, keysOf(keys)) },
		func() string { return outcomes(b.Len(), b.Outcome) },
		func() { c.GetOrLoadMulti(t.Context(), new(firn.Batch), keysOf("slow"), load) },
	}
}

func bulkOfValues(t *testing.T, c *firn.Cache) bulkCalls {
	typed := harness.NewTyped(t, c, "n", firn.TypedOptions[string, string]{HotValues: -1})
	var b firn.TypedBatch[string]
	load := func(_ context.Context, keys []string) (map[string]string, error) {
		found := map[string]string{}
		for _, k := range keys {
			if v := bulkLoad(k); v != nil {
				found[k] = string(v)
			}
		}
		return found, nil
	}
	return bulkCalls{
		func(keys string) error { return typed.GetOrLoadMulti(t.Context(), &b, strings.Fields(keys), load) },
		func(keys string) error { return typed.GetMulti(t.Context(), &b, strings.Fields(keys)) },
		func() string { return outcomes(b.Len(), b.Outcome) },
		func() { typed.GetOrLoadMulti(t.Context(), new(firn.TypedBatch[string]), []string{"slow"}, load) },
	}
}

// A bulk load says of each key how it came by the answer, on bytes and on values.
func TestLoadMultiOutcomes(t *testing.T) {
	for name, of := range map[string]func(*testing.T, *firn.Cache) bulkCalls{"bytes": bulkOfBytes, "values": bulkOfValues} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := of(t, harness.OpenSmall(t, func(o *firn.Options) {
					o.TTL, o.Clock = time.Minute, time.Now
					o.Loading = firn.LoadingOptions{NegativeTTL: time.Hour, StaleWhileRevalidate: time.Hour}
				}))
				want := func(of, want string) {
					t.Helper()
					if got := c.outcomes(); got != want {
						t.Errorf("%s: %s, want %s", of, got, want)
					}
				}
				const keys = "hit stale gone slow new none"
				harness.Must(t, c.load("stale gone"))
				want("the first load", "loaded loaded")
				time.Sleep(90 * time.Second)
				harness.Must(t, c.load("hit"))
				go c.slow()
				synctest.Wait()
				harness.Must(t, c.load(keys))
				want("all at once", "hit stale negative joined loaded loaded")
				harness.Must(t, c.load("hit new"))
				want("hits alone", "hit hit")
				harness.Must(t, c.get(keys+" never"))
				want("GetMulti", "hit hit none hit hit none none")
			})
		})
	}
}

func outcomes(n int, of func(i int) firn.Outcome) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprint(of(i)))
	}
	return strings.Join(all, " ")
}
