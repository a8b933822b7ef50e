package users

import (
	"context"

	"github.com/firncache/firn"
)

// typedStore is firn.Typed, with hot values or without.
type typedStore[K key, V any] struct {
	c      *firn.Cache
	t      *firn.Typed[K, V]
	loader firn.TypedLoadFunc[K, V]
}

// openTyped opens firn, with hot values or without: as many as there are, or fit into a quarter
// of the budget, and a 32nd once RAM is full.
func openTyped[K key, V any](s *spec[K, V], withHot bool) (*typedStore[K, V], error) {
	opts := firn.TypedOptions[K, V]{Codec: s.codec}
	if withHot {
		opts.HotValues, opts.ReadOnly = int(s.w.Entries), true
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
	t       *typedStore[string, uint64]
	stripes stripes
}

func openTypedCounters(e *env) (store, error) {
	t, err := openTyped(&spec[string, uint64]{env: e}, false)
	return &typedCounters{env: e, t: t}, err
}

func (s *typedCounters) client(uint32) client { return typedCounter{s.env, s.t, &s.stripes} }
func (s *typedCounters) wait()                {}
func (s *typedCounters) close()               { s.t.close() }

func (s *typedCounters) counted() (sum uint64) {
	for e := range uint32(s.w.Entries) {
		if v, ok := s.t.get(s.keys.text(e)); ok {
			sum += countOf(v)
		}
	}
	return sum
}
