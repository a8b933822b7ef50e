package users

import (
	"context"
	"runtime/debug"

	"github.com/firncache/firn"
)

// typedStore is firn.Typed, with nothing set or with all that makes it fast.
type typedStore[K key, V any] struct {
	c      *firn.Cache
	t      *firn.Typed[K, V]
	loader firn.TypedLoadFunc[K, V]
}

// openTyped opens firn: with nothing set, or with a codec by hand, hot values, as many as there
// are, which nobody changes, and the memory of a cache on the heap: a GOMEMLIMIT that lets garbage
// have as much as if the budget lay there.
func openTyped[K key, V any](s *spec[K, V], withHot bool) (*typedStore[K, V], error) {
	var opts firn.TypedOptions[K, V]
	if withHot {
		opts.Codec, opts.HotValues, opts.ReadOnly = s.codec, s.w.Entries, true
		if s.w.Budget > s.heap { // otherwise the rest of the program has garbage enough
			debug.SetGCPercent(-1)
			debug.SetMemoryLimit(s.limit + s.w.Budget)
		}
	}
	c, err := firn.Open(firn.Options{RAMBytes: s.w.Budget, TTL: s.w.TTL})
	if err != nil {
		return nil, err
	}
	t, err := firn.NewTyped(c, "n", opts)
	if err != nil {
		return nil, err
	}
	return &typedStore[K, V]{c, t, func(_ context.Context, key K) (V, error) { return s.load(key), nil }}, nil
}

func (t *typedStore[K, V]) get(key K) (V, bool)     { return t.t.Get(key) }
func (t *typedStore[K, V]) set(key K, value V) bool { return t.t.Set(key, value) == nil }
func (t *typedStore[K, V]) wait()                   {}
func (t *typedStore[K, V]) close()                  { _ = t.c.Close() }

func (t *typedStore[K, V]) getOrLoad(key K) V {
	v, _ := t.t.GetOrLoad(context.Background(), key, t.loader) // neither loader nor context fail
	return v
}

func (t *typedStore[K, V]) newBatch() (func(keys []K), func(i int) (V, bool)) {
	b := new(firn.TypedBatch[V])
	return func(keys []K) { t.t.GetMulti(context.Background(), b, keys) }, b.Value
}

// typedCounters are counters as numbers.
type typedCounters struct {
	*env
	t *typedStore[string, uint64]
}

func openTypedCounters(e *env) (store, error) {
	t, err := openTyped(&spec[string, uint64]{env: e}, false)
	return &typedCounters{env: e, t: t}, err
}

func (s *typedCounters) client(uint32) client { return s }
func (s *typedCounters) wait()                {}
func (s *typedCounters) close()               { s.t.close() }

func (s *typedCounters) counted() (sum uint64) {
	for e := range uint32(s.w.Entries) {
		v, _ := s.t.get(s.keys.text(e))
		sum += v
	}
	return sum
}

// do counts by Increment. A sum of 1 is that of a counter that was missing.
func (s *typedCounters) do(entries []uint32, n *counts) {
	sum, err := firn.Increment(context.Background(), s.t.t, s.keys.text(entries[0]), 1)
	n.read(sum > 1, true)
	n.wrote(err == nil)
}
