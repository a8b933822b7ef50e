package rivals

import (
	"time"

	gocache "github.com/patrickmn/go-cache"
)

var goCacheRival = Rival{
	Name: "go-cache", Module: "github.com/patrickmn/go-cache", Lends: true,
	Setup: "string keys, values boxed in any, NoExpiration, a janitor every 10 s only where entries expire; no limit",
	Open: func(c Config) (Cache, error) {
		switch c.form() {
		case arrays4:
			return newGoCache[value4](c), nil
		case arrays16:
			return newGoCache[value](c), nil
		}
		return newGoCache[[]byte](c), nil
	},
}

type goCache[V any] struct {
	layout[string, V]
	c *gocache.Cache
}

func newGoCache[V any](c Config) Cache {
	items := make(map[string]gocache.Item, c.Entries)
	janitor := time.Duration(0)
	if c.EntryTTLs || c.TTL > 0 {
		janitor = 10 * time.Second
	}
	return &goCache[V]{newLayout[string, V](), gocache.NewFrom(gocache.NoExpiration, janitor, items)}
}

func (g *goCache[V]) Get(dst, key []byte) ([]byte, bool) {
	boxed, ok := g.c.Get(view(key))
	if !ok {
		return dst, false
	}
	v := boxed.(V)
	return g.bytes(dst, &v), true
}

func (g *goCache[V]) Set(key, value []byte) bool {
	g.c.Set(string(key), g.ownValue(value), gocache.NoExpiration)
	return true
}

func (g *goCache[V]) SetTTL(key, value []byte, ttl time.Duration) bool {
	if ttl == 0 {
		ttl = gocache.NoExpiration
	}
	g.c.Set(string(key), g.ownValue(value), ttl)
	return true
}

func (g *goCache[V]) Delete(key []byte) { g.c.Delete(view(key)) }
func (g *goCache[V]) Wait()             {}
func (g *goCache[V]) Close()            { g.c.Flush() }
