package adapters

import "context"
import "github.com/firncache/firn"

// LRU has the methods of lru.Cache of golang-lru/v2. Get and Len are firn's own. What leaves is chosen by how
// often it was used, too, so there is no oldest entry. The size is firn's budget, in
// bytes. A value is a copy.
type LRU[K comparable, V any] struct{ *firn.Typed[K, V] }

// Add stores a value. It cannot tell what it evicts, and returns false: see
// firn.Options.OnEvict.
func (c LRU[K, V]) Add(key K, value V) (evicted bool) {
	if c.Set(key, value) != nil {
		c.Remove(key)
	}
	return false
}

// Contains reports whether there is a value. It does not count as a use.
func (c LRU[K, V]) Contains(key K) bool { return c.Has(key) }

// Remove removes a value and tells whether there was one; of two calls at once both
// may find it.
func (c LRU[K, V]) Remove(key K) (present bool) { return c.Has(key) && c.Delete(key) == nil }

// Keys walks over the whole cache. Their order is not that of use.
func (c LRU[K, V]) Keys() (keys []K) {
	for key := range c.All() {
		keys = append(keys, key)
	}
	return keys
}

// Values is Keys for the values.
func (c LRU[K, V]) Values() (values []V) {
	for _, value := range c.All() {
		values = append(values, value)
	}
	return values
}

// Purge removes all values.
func (c LRU[K, V]) Purge() { _ = c.Clear(context.Background()) }
