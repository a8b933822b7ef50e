// Package sim compares eviction policies on request traces. It keeps the
// choice of internal/policy honest: the policy it measures is the very code
// that the RAM tier runs, on queues of segments as there.
package sim

// Cache is an eviction policy over the keys 0..n-1, without the data.
type Cache interface {
	// Access reports whether key is resident, and makes it so.
	Access(key int32) (hit bool)
}

// New makes a cache for keys distinct keys that holds capacity of them.
type New func(keys, capacity int) Cache

// Misses runs the requests through a new cache and counts its misses.
func Misses(newCache New, requests []int32, keys, capacity int) int {
	c, misses := newCache(keys, capacity), 0
	for _, key := range requests {
		if !c.Access(key) {
			misses++
		}
	}
	return misses
}
