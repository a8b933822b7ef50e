package rivals

import (
	"context"

	"github.com/allegro/bigcache/v3"
	"github.com/cespare/xxhash/v2"
)

var bigcacheRival = Rival{
	Name: "bigcache", Module: "github.com/allegro/bigcache/v3", Bound: true, OffHeap: true,
	Setup: "1024 shards (16 for values above 16 KiB, 64 in less than 32 MiB), presized, HardMaxCacheSize = budget, xxhash as Hasher, no expiry, not verbose",
	Open: func(c Config) (Cache, error) {
		cfg := bigcache.DefaultConfig(never)
		if c.TTL > 0 {
			cfg = bigcache.DefaultConfig(c.TTL)
		}
		cfg.CleanWindow = 0
		cfg.Verbose = false
		cfg.Hasher = xxHasher{}
		cfg.HardMaxCacheSize = max(int(c.Bytes>>20), 1)
		cfg.MaxEntriesInWindow = c.Entries + c.Entries/8 // shards fill unevenly
		cfg.MaxEntrySize = c.KeySize + c.ValueSize + bigcacheHeader
		if c.varies() {
			cfg.MaxEntriesInWindow, cfg.MaxEntrySize = 0, 1
		}
		if c.ValueSize == 0 || c.ValueSize > 1<<14 {
			cfg.Shards = 16
		} else if c.Bytes < 32<<20 {
			cfg.Shards = 64 // each has its part of the memory, and fills unevenly
		}
		cache, err := bigcache.New(context.Background(), cfg)
		if err != nil {
			return nil, err
		}
		return bigcacheCache{cache}, nil
	},
}

// bigcacheHeader is the header that bigcache stores before each entry, in bytes: time,
// hash and key length, and the length of all that.
const bigcacheHeader = 18 + 2

type xxHasher struct{}

func (xxHasher) Sum64(s string) uint64 { return xxhash.Sum64String(s) }

type bigcacheCache struct{ c *bigcache.BigCache }

func (b bigcacheCache) Get(_, key []byte) ([]byte, bool) {
	value, err := b.c.Get(view(key))
	return value, err == nil
}
func (b bigcacheCache) Set(key, value []byte) bool { return b.c.Set(view(key), value) == nil }
func (b bigcacheCache) Delete(key []byte)          { _ = b.c.Delete(view(key)) }
func (b bigcacheCache) Wait()                      {}
func (b bigcacheCache) Close()                     { _ = b.c.Close() }
