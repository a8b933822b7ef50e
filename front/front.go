// Package front keeps decoded values above a typed cache: github.com/maypok86/otter
// as a firn.Front.
//
//	hot, err := front.New[string, User](10_000)
//	…
//	users, err := firn.NewTyped(c, firn.TypedOptions[string, User]{Front: hot})
//
// It pays where few keys get most of the reads and decoding is dear: a hit costs
// what otter's own costs, and neither allocates nor decodes. A read that misses
// it costs the more by what it takes to put the value there, and the values are
// on the Go heap, where the garbage collector sees them.
package front

import (
	"fmt"

	"github.com/maypok86/otter/v2"

	"github.com/firncache/firn"
)

// New makes a front of n values at most. It serves one typed cache.
func New[K comparable, V any](n int) (firn.Front[K, V], error) {
	if n < 1 {
		return nil, fmt.Errorf("front: room for %d values: want at least 1", n)
	}
	c, err := otter.New(&otter.Options[K, *firn.FrontEntry[V]]{MaximumSize: n})
	if err != nil {
		return nil, fmt.Errorf("front: %w", err)
	}
	return front[K, V]{c}, nil
}

type front[K comparable, V any] struct {
	cache *otter.Cache[K, *firn.FrontEntry[V]]
}

func (f front[K, V]) Get(key K) *firn.FrontEntry[V] {
	e, _ := f.cache.GetIfPresent(key)
	return e
}

func (f front[K, V]) Set(key K, entry *firn.FrontEntry[V]) { f.cache.Set(key, entry) }

func (f front[K, V]) Delete(key K) { f.cache.Invalidate(key) }
