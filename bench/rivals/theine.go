package rivals

import (
	"time"

	theine "github.com/Yiling-J/theine-go"
)

var theineRival = Rival{
	Name: "theine", Module: "github.com/Yiling-J/theine-go", Bound: true, Lends: true,
	Setup: "maximum = 1.25 × entries, cost 1 each; the budget and cost = bytes where sizes vary",
	Open: func(c Config) (Cache, error) {
		switch c.form() {
		case arrays4:
			return newTheine[key4, value4](c)
		case arrays16:
			return newTheine[key16, value](c)
		case slices16:
			return newTheine[key16, []byte](c)
		}
		return newTheine[string, []byte](c)
	},
}

// TheineOverhead is the cost of one entry to theine beyond the bytes of its string
// key and its []byte value, measured with a million entries.
const TheineOverhead = 184

type theineCache[K comparable, V any] struct {
	layout[K, V]
	c      *theine.Cache[K, V]
	varies bool
}

func newTheine[K comparable, V any](c Config) (Cache, error) {
	maximum := int64(c.room())
	if c.varies() {
		maximum = c.Bytes
	}
	cache, err := theine.NewBuilder[K, V](maximum).Build()
	return &theineCache[K, V]{newLayout[K, V](), cache, c.varies()}, err
}

func (t *theineCache[K, V]) Get(dst, key []byte) ([]byte, bool) {
	v, ok := t.c.Get(t.key(key))
	if !ok {
		return dst, false
	}
	return t.bytes(dst, &v), true
}

func (t *theineCache[K, V]) Set(key, value []byte) bool { return t.SetTTL(key, value, 0) }

func (t *theineCache[K, V]) SetTTL(key, value []byte, ttl time.Duration) bool {
	cost := int64(1)
	if t.varies {
		cost = int64(len(key) + len(value) + TheineOverhead)
	}
	return t.c.SetWithTTL(t.ownKey(key), t.ownValue(value), cost, ttl)
}

func (t *theineCache[K, V]) Delete(key []byte) { t.c.Delete(t.key(key)) }
func (t *theineCache[K, V]) Wait()             { t.c.Wait() }
func (t *theineCache[K, V]) Close()            { t.c.Close() }
