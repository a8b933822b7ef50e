package rivals

import (
	"time"

	"github.com/dgraph-io/ristretto/v2"
)

var ristrettoRival = Rival{
	Name: "ristretto", Module: "github.com/dgraph-io/ristretto/v2", Bound: true, Lends: true, Drops: true,
	Setup: "[]byte keys, MaxCost = 1.25 × entries with cost 1 (the budget and cost = bytes where sizes vary), NumCounters = 10 × entries, BufferItems 64, no metrics",
	Open: func(c Config) (Cache, error) {
		switch c.form() {
		case arrays4:
			return newRistretto[value4](c)
		case arrays16:
			return newRistretto[value](c)
		}
		return newRistretto[[]byte](c)
	},
}

// RistrettoOverhead is the cost of one entry to ristretto beyond the bytes of its
// []byte value, counters included, measured with a million entries; it stores
// two hashes in place of the key.
const RistrettoOverhead = 260

type ristrettoCache[V any] struct {
	layout[string, V]
	c      *ristretto.Cache[[]byte, V]
	varies bool
}

func newRistretto[V any](c Config) (Cache, error) {
	cfg := &ristretto.Config[[]byte, V]{
		NumCounters: 10 * int64(c.entriesGuess()), MaxCost: int64(c.room()), BufferItems: 64, IgnoreInternalCost: true,
	}
	if c.varies() {
		cfg.MaxCost = c.Bytes
	}
	cache, err := ristretto.NewCache(cfg)
	return &ristrettoCache[V]{newLayout[string, V](), cache, c.varies()}, err
}

func (r *ristrettoCache[V]) Get(dst, key []byte) ([]byte, bool) {
	v, ok := r.c.Get(key)
	if !ok {
		return dst, false
	}
	return r.bytes(dst, &v), true
}

func (r *ristrettoCache[V]) Set(key, value []byte) bool { return r.SetTTL(key, value, 0) }

func (r *ristrettoCache[V]) SetTTL(key, value []byte, ttl time.Duration) bool {
	cost := int64(1)
	if r.varies {
		cost = int64(len(value) + RistrettoOverhead)
	}
	return r.c.SetWithTTL(key, r.ownValue(value), cost, ttl)
}

func (r *ristrettoCache[V]) Delete(key []byte) { r.c.Del(key) }
func (r *ristrettoCache[V]) Wait()             { r.c.Wait() }
func (r *ristrettoCache[V]) Close()            { r.c.Close() }
