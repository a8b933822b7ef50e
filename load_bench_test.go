package firn_test

import (
	"context"
	"encoding/binary"
	"testing"
	"time"

	"github.com/firncache/firn"
)

// What GetOrLoad adds to Get when the value is there.
func BenchmarkHit(b *testing.B) {
	const n = 1 << 10 // in the processor's caches, so that little hides the difference
	ctx := context.Background()
	for _, x := range []struct {
		name string
		opts firn.Options
		get  func(c *firn.Cache, dst, key []byte) bool
	}{
		{"Get", firn.Options{}, get},
		{"GetOrLoad", firn.Options{}, func(c *firn.Cache, dst, key []byte) bool {
			_, err := c.GetOrLoad(ctx, dst, key, nil)
			return err == nil
		}},
		{"GetOfTTL", firn.Options{TTL: time.Hour}, get},
		{"GetOrLoadRefreshAfter", firn.Options{TTL: time.Hour, Loading: firn.LoadingOptions{RefreshAfter: time.Hour / 2}}, func(c *firn.Cache, dst, key []byte) bool {
			_, err := c.GetOrLoad(ctx, dst, key, nil)
			return err == nil
		}},
	} {
		b.Run(x.name, func(b *testing.B) {
			x.opts.RAMBytes = 64 << 20
			c := open(b, x.opts)
			key, value, dst := make([]byte, 16), make([]byte, 64), make([]byte, 0, 64)
			for i := range n {
				binary.LittleEndian.PutUint64(key, uint64(i))
				if err := c.Set(key, value); err != nil {
					b.Fatal(err)
				}
			}
			i := uint64(0)
			for b.Loop() {
				i = i*6364136223846793005 + 1442695040888963407
				binary.LittleEndian.PutUint64(key, i>>54)
				if !x.get(c, dst, key) {
					b.Fatal("a miss")
				}
			}
		})
	}
}

func get(c *firn.Cache, dst, key []byte) bool {
	_, ok := c.Get(dst, key)
	return ok
}
