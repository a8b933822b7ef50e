package rivals

import (
	"context"
	"time"

	"github.com/firncache/firn"
)

var firnRival = Rival{
	Name: Firn, Setup: "Options{RAMBytes: budget}", Bound: true, OffHeap: true,
	Open: func(c Config) (Cache, error) {
		cache, err := firn.Open(firn.Options{RAMBytes: c.Bytes})
		if err != nil {
			return nil, err
		}
		return &firnCache{cache}, nil
	},
}

type firnCache struct{ c *firn.Cache }

func (f *firnCache) Get(dst, key []byte) ([]byte, bool) { return f.c.Get(dst, key) }
func (f *firnCache) Set(key, value []byte) bool         { return f.c.Set(key, value) == nil }
func (f *firnCache) Delete(key []byte)                  { _ = f.c.Delete(key) }
func (f *firnCache) Wait()                              {}
func (f *firnCache) Close()                             { _ = f.c.Close() }
func (f *firnCache) NewBatch() Batch                    { return &firnBatch{c: f.c} }
func (f *firnCache) Evictions() int64                   { return int64(f.c.Stats().Evictions) }

func (f *firnCache) SetTTL(key, value []byte, ttl time.Duration) bool {
	if ttl == 0 {
		ttl = firn.Forever
	}
	return f.c.SetWithTTL(key, value, ttl) == nil
}

func (f *firnCache) NewLoader(load func(key []byte) []byte) func(dst, key []byte) []byte {
	ctx := context.Background()
	loads := func(_ context.Context, key []byte) ([]byte, error) { return load(key), nil }
	return func(dst, key []byte) []byte {
		v, _ := f.c.GetOrLoad(ctx, dst, key, loads) // neither load nor context fail
		return v
	}
}

type firnBatch struct {
	c *firn.Cache
	b firn.Batch
}

func (b *firnBatch) Get(keys [][]byte)          { b.c.GetMulti(context.Background(), &b.b, keys) }
func (b *firnBatch) Value(i int) ([]byte, bool) { return b.b.Value(i) }
func (b *firnBatch) Set(keys, values [][]byte) bool {
	return b.c.SetMulti(context.Background(), keys, values) == nil
}
