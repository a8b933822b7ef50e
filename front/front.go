// Package front keeps decoded values above a typed cache: github.com/maypok86/otter
// as a firn.Front.
//
//	hot, err := front.New[string, User](10_000)
//	…
//	users, err := firn.NewTyped(c, "users", firn.TypedOptions[string, User]{Front: hot})
//
// It pays where few keys get most of the reads and decoding is dear, as with
// JSON: a hit costs about 15 ns more than otter's own, and neither allocates nor
// decodes. It costs where decoding is a copy, as with numbers: a read that misses
// it costs the more for having looked, and the values are on the Go heap, where
// the garbage collector sees them. docs/PERFORMANCE.md has figures.
//
// Keys may be numbers, bools, strings, and structs and arrays of these.
package front

import (
	"fmt"
	"hash/maphash"
	"math/bits"
	"sync/atomic"

	"github.com/maypok86/otter/v2"

	"github.com/firncache/firn"
)

// New makes a front of n values at most. It serves one typed cache.
//
// A value goes there when its key was read twice, past the front, with not many
// other keys in between: a value read once would cost more to keep than it
// brings.
func New[K comparable, V any](n int) (firn.Front[K, V], error) {
	if n < 1 {
		return nil, fmt.Errorf("front: room for %d values: want at least 1", n)
	}
	c, err := otter.New(&otter.Options[K, *firn.FrontEntry[V]]{MaximumSize: n})
	if err != nil {
		return nil, fmt.Errorf("front: %w", err)
	}
	return &front[K, V]{c, newDoorkeeper(n)}, nil
}

type front[K comparable, V any] struct {
	cache *otter.Cache[K, *firn.FrontEntry[V]]
	door  doorkeeper
}

func (f *front[K, V]) Get(key K) *firn.FrontEntry[V] {
	e, _ := f.cache.GetIfPresent(key)
	return e
}

func (f *front[K, V]) Set(key K, entry *firn.FrontEntry[V]) {
	if f.door.knows(maphash.Comparable(f.door.seed, key)) {
		f.cache.Set(key, entry)
	}
}

func (f *front[K, V]) Delete(key K) { f.cache.Invalidate(key) }

// doorkeeper remembers which keys came last: for each of its places one, by a
// part of its hash.
type doorkeeper struct {
	seed maphash.Seed
	last []atomic.Uint32
}

// newDoorkeeper has one or two places for each of n values.
func newDoorkeeper(n int) doorkeeper {
	return doorkeeper{maphash.MakeSeed(), make([]atomic.Uint32, 1<<bits.Len(uint(n)))}
}

// knows reports whether the key was the last to come to its place, and remembers
// it.
func (d *doorkeeper) knows(hash uint64) bool {
	place, mark := &d.last[hash&uint64(len(d.last)-1)], uint32(hash>>32)|1
	if place.Load() == mark {
		return true
	}
	place.Store(mark)
	return false
}
