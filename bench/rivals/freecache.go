package rivals

import (
	"time"

	"github.com/coocood/freecache"
)

var freecacheRival = Rival{
	Name: "freecache", Module: "github.com/coocood/freecache", Bound: true, OffHeap: true,
	Setup: "NewCache(budget), GetWithBuf and Set",
	Open: func(c Config) (Cache, error) {
		return freecacheCache{freecache.NewCache(int(c.Bytes))}, nil
	},
}

type freecacheCache struct{ c *freecache.Cache }

func (f freecacheCache) Get(dst, key []byte) ([]byte, bool) {
	// GetWithBuf fills a buffer from its start: it gets the free part of dst.
	value, err := f.c.GetWithBuf(key, dst[len(dst):])
	if err != nil || len(dst) == 0 {
		return value, err == nil
	}
	return append(dst, value...), true
}
func (f freecacheCache) Set(key, value []byte) bool { return f.c.Set(key, value, 0) == nil }
func (f freecacheCache) Delete(key []byte)          { f.c.Del(key) }
func (f freecacheCache) Wait()                      {}
func (f freecacheCache) Close()                     { f.c.Clear() }
func (f freecacheCache) Evictions() int64           { return f.c.EvacuateCount() }

// SetTTL rounds ttl up to the second, freecache's unit.
func (f freecacheCache) SetTTL(key, value []byte, ttl time.Duration) bool {
	return f.c.Set(key, value, int((ttl+time.Second-1)/time.Second)) == nil
}
