package rivals

import (
	"time"

	"github.com/coocood/freecache"
)

var freecacheRival = Rival{
	Name: "freecache", Module: "github.com/coocood/freecache", Bound: true, OffHeap: true,
	Setup: "NewCacheCustomTimer(budget, NewCachedTimer()), GetWithBuf, Set and Update",
	Open: func(c Config) (Cache, error) {
		timer := freecache.NewCachedTimer() // every call takes the time
		return freecacheCache{freecache.NewCacheCustomTimer(int(c.Bytes), timer), timer}, nil
	},
}

type freecacheCache struct {
	c     *freecache.Cache
	timer freecache.StoppableTimer
}

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
func (f freecacheCache) Close()                     { f.c.Clear(); f.timer.Stop() }
func (f freecacheCache) Evictions() int64           { return f.c.EvacuateCount() }

// SetTTL rounds ttl up to the second, freecache's unit.
func (f freecacheCache) SetTTL(key, value []byte, ttl time.Duration) bool {
	return f.c.Set(key, value, seconds(ttl)) == nil
}

func (f freecacheCache) Update(key []byte, change func(old []byte, found bool) ([]byte, time.Duration)) bool {
	_, _, err := f.c.Update(key, func(old []byte, found bool) ([]byte, bool, int) {
		value, ttl := change(old, found)
		return value, true, seconds(ttl)
	})
	return err == nil
}

func seconds(ttl time.Duration) int { return int((ttl + time.Second - 1) / time.Second) }
