package firn

import (
	"context"
	"time"
)

// The writes that take a context are for caches with a shared tier, which a write waits for.
// Without one they are what they are without a context: nothing waits, and nobody looks at it.
//
// Of a write that fails with the context's error, or with ErrSharedUnavailable, nobody knows
// whether the server has done it, or will: no copy is kept here, and a read asks the server. A
// removal is done later, when the server is back, as long as there is room to keep it.

// SetContext is Set that waits for the shared tier until ctx ends, or for the timeout of
// that tier if that is earlier.
func (c *Cache) SetContext(ctx context.Context, key, value []byte) error {
	return c.SetWithTTLContext(ctx, key, value, c.loads.Jittered(c.ttl))
}

// SetWithTTLContext is SetWithTTL, and waits as SetContext does.
func (c *Cache) SetWithTTLContext(ctx context.Context, key, value []byte, ttl time.Duration) error {
	hash := c.store.Prefetch(key)
	deadline, err := c.deadline(ttl)
	if err != nil {
		return err
	}
	return c.store.SetContext(ctx, hash, key, value, deadline)
}

// DeleteContext is Delete, and waits as SetContext does.
func (c *Cache) DeleteContext(ctx context.Context, key []byte) error {
	return c.store.DeleteContext(ctx, key)
}

// SetMultiContext is SetMulti, and waits as SetContext does, once for all keys.
func (c *Cache) SetMultiContext(ctx context.Context, keys, values [][]byte) error {
	if err := pairs(keys, values); err != nil {
		return err
	}
	return c.setMultiContext(ctx, keys, values, c.ttl)
}

// DeleteMultiContext is DeleteMulti, and waits as SetContext does, once for all keys.
func (c *Cache) DeleteMultiContext(ctx context.Context, keys [][]byte) error {
	return c.store.DeleteMultiContext(ctx, keys)
}

// ClearContext is Clear, and waits as SetContext does.
func (c *Cache) ClearContext(ctx context.Context) error { return c.store.ClearContext(ctx) }
