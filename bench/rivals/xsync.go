package rivals

import "github.com/puzpuzpuz/xsync/v4"

var xsyncRival = Rival{
	Name: "xsync", Module: "github.com/puzpuzpuz/xsync/v4", Lends: true,
	Setup: "xsync.Map, WithPresize(entries); a map: no limit, no expiry",
	Open: func(c Config) (Cache, error) {
		switch c.form() {
		case arrays4:
			return newXsync[key4, value4](c), nil
		case arrays16:
			return newXsync[key16, value](c), nil
		case slices16:
			return newXsync[key16, []byte](c), nil
		}
		return newXsync[string, []byte](c), nil
	},
}

type xsyncCache[K comparable, V any] struct {
	layout[K, V]
	m *xsync.Map[K, V]
}

func newXsync[K comparable, V any](c Config) Cache {
	return &xsyncCache[K, V]{newLayout[K, V](), xsync.NewMap[K, V](xsync.WithPresize(c.Entries))}
}

func (x *xsyncCache[K, V]) Get(dst, key []byte) ([]byte, bool) {
	v, ok := x.m.Load(x.key(key))
	if !ok {
		return dst, false
	}
	return x.bytes(dst, &v), true
}

func (x *xsyncCache[K, V]) Set(key, value []byte) bool {
	x.m.Store(x.ownKey(key), x.ownValue(value))
	return true
}

func (x *xsyncCache[K, V]) Delete(key []byte) { x.m.Delete(x.key(key)) }
func (x *xsyncCache[K, V]) Wait()             {}
func (x *xsyncCache[K, V]) Close()            { x.m.Clear() }
