package adapters

import (
	"context"
	"time"

	"github.com/firncache/firn"
)

// Ristretto has the methods of ristretto.Cache. Costs are ignored: firn counts
// bytes. Get returns a copy.
type Ristretto[K comparable, V any] struct{ *firn.Typed[K, V] }

// Set stores a value with firn.TypedOptions.TTL. It is there when Set returns true.
func (c Ristretto[K, V]) Set(key K, value V, cost int64) bool {
	return c.stored(key, c.Typed.Set(key, value))
}

// SetWithTTL stores a value for ttl; for 0 it never expires, and for less it is not
// stored.
func (c Ristretto[K, V]) SetWithTTL(key K, value V, cost int64, ttl time.Duration) bool {
	if ttl == 0 {
		ttl = firn.Forever
	}
	return ttl > 0 && c.stored(key, c.Typed.SetWithTTL(key, value, ttl))
}

// stored removes the value of before if a Set has failed.
func (c Ristretto[K, V]) stored(key K, err error) bool {
	if err != nil {
		c.Del(key)
	}
	return err == nil
}

// GetTTL returns how long the value has to live, 0 if it never expires.
func (c Ristretto[K, V]) GetTTL(key K) (time.Duration, bool) {
	ttl, ok := c.TTL(key)
	if ttl == firn.Forever {
		ttl = 0
	}
	return ttl, ok
}

// Del removes the value of key.
func (c Ristretto[K, V]) Del(key K) { _ = c.Delete(key) }

// Clear removes all values.
func (c Ristretto[K, V]) Clear() { _ = c.Typed.Clear(context.Background()) }

// Wait has nothing to wait for: a Set is visible when it returns.
func (c Ristretto[K, V]) Wait() {}
