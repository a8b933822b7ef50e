package rivals

import (
	"math"

	"github.com/VictoriaMetrics/fastcache"
)

var fastcacheRival = Rival{
	Name: "fastcache", Module: "github.com/VictoriaMetrics/fastcache", Bound: true, OffHeap: true,
	Setup: "New(budget), HasGet and Set; SetBig and GetBig for entries of 64 KiB and more",
	Open: func(c Config) (Cache, error) {
		// New panics on 0 and rounds small budgets up to 32 MiB.
		cache := fastcache.New(int(min(c.Bytes, math.MaxInt)))
		if c.ValueSize > 0 && c.KeySize+c.ValueSize < fastcacheBig {
			return fastcacheCache{cache}, nil
		}
		return fastcacheBigCache{fastcacheCache{cache}}, nil
	},
}

type fastcacheCache struct{ c *fastcache.Cache }

func (f fastcacheCache) Get(dst, key []byte) ([]byte, bool) { return f.c.HasGet(dst, key) }
func (f fastcacheCache) Set(key, value []byte) bool         { f.c.Set(key, value); return true }
func (f fastcacheCache) Delete(key []byte)                  { f.c.Del(key) }
func (f fastcacheCache) Wait()                              {}
func (f fastcacheCache) Close()                             { f.c.Reset() }

// fastcacheBig is the size of key and value together, in bytes, that Set drops
// in silence, as it does larger ones: its chunks hold 64 KiB, headers included.
const fastcacheBig = 1<<16 - 64

// fastcacheBigCache holds values of all sizes: small ones under their key,
// large ones through SetBig under a key of their own, since Get cannot tell a
// large value's directory from a small value.
type fastcacheBigCache struct{ fastcacheCache }

func bigKey(key []byte) []byte { return append(append(make([]byte, 0, 32), key...), "+big"...) }

func (f fastcacheBigCache) Get(dst, key []byte) ([]byte, bool) {
	if value, ok := f.c.HasGet(dst, key); ok {
		return value, true
	}
	value := f.c.GetBig(dst, bigKey(key))
	return value, len(value) > len(dst)
}

func (f fastcacheBigCache) Set(key, value []byte) bool {
	if len(key)+len(value) < fastcacheBig {
		f.c.Del(bigKey(key))
		f.c.Set(key, value)
		return true
	}
	f.c.Del(key)
	f.c.SetBig(bigKey(key), value)
	return true
}

func (f fastcacheBigCache) Delete(key []byte) {
	f.c.Del(key)
	f.c.Del(bigKey(key))
}
