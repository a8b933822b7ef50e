package loads

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/tests/harness"
)

// nosy is a context of a user's own, which looks its values up in the cache.
type nosy struct {
	context.Context
	c *firn.Cache
}

func (n nosy) Value(key any) any {
	_, _ = n.c.GetOrLoad(context.Background(), nil, []byte("context"), harness.Value("looked up"))
	_ = n.c.Set([]byte("k"), []byte("set"))
	return n.Context.Value(key)
}

// A context may use the cache that it is given to: it is asked for its values with
// no lock held.
func TestContextUsesTheCache(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := harness.OpenSmall(t)
		_, err := c.GetOrLoad(nosy{t.Context(), c}, nil, []byte("key"), harness.Value("loaded"))
		if v, ok := c.Get(nil, []byte("key")); err != nil || !ok || string(v) != "loaded" {
			t.Errorf("%v, %q, %v", err, v, ok)
		}
		if _, err := c.Refresh(nosy{t.Context(), c}, nil, []byte("k"), harness.Value("loaded")); err != nil {
			t.Error(err)
		}
	})
}
