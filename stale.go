package firn

import (
	"context"

	"github.com/firncache/firn/internal/tiered"
)

// recall is look for a caller who is about to load, and counts the answer. A
// stale value is one only as long as LoadingOptions.StaleFor says.
func (c *Cache) recall(ctx context.Context, dst, key []byte) ([]byte, tiered.State) {
	v, deadline, found := c.store.Peek(ctx, dst, key)
	switch {
	case found == tiered.Negative:
		c.loads.count.negativeHits.Add(1)
	case found == tiered.Stale && c.store.Now() < deadline+c.loading.staleFor:
		c.loads.count.staleServed.Add(1)
	case found == tiered.Stale:
		return dst, tiered.Miss
	}
	return v, found
}

// fallback is what to answer with in place of a load that is late or has
// failed: an expired value up to LoadingOptions.FailSafe, or one that came
// meanwhile.
func (c *Cache) fallback(ctx context.Context, dst, key []byte) ([]byte, bool) {
	if c.loading.failSafe == 0 {
		return dst, false
	}
	v, deadline, found := c.store.Peek(ctx, dst, key)
	switch {
	case found == tiered.Fresh:
		return v, true
	case found == tiered.Stale && c.store.Now() < deadline+c.loading.failSafe:
		c.loads.count.staleServed.Add(1)
		return v, true
	}
	return dst, false
}
