package typed

import (
	"context"
	"encoding/binary"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/tests/harness"
)

// What GetOrLoad adds to Get when the value is there: without options, and when
// it has to see whether the value is to be refreshed.
func BenchmarkHit(b *testing.B) {
	ctx := context.Background()
	for _, x := range []struct {
		name string
		opts firn.Options
	}{
		{"plain", firn.Options{}},
		{"TTL", firn.Options{TTL: time.Hour}},
		{"RefreshAfter", firn.Options{TTL: time.Hour, Loading: firn.LoadingOptions{RefreshAfter: time.Hour / 2}}},
	} {
		b.Run(x.name, func(b *testing.B) {
			x.opts.RAMBytes = 64 << 20
			c := harness.Open(b, x.opts)
			key, value, dst := make([]byte, 16), make([]byte, 64), make([]byte, 0, 64)
			keyOf := func(i uint64) []byte {
				binary.LittleEndian.PutUint64(key, i)
				return key
			}
			for i := range uint64(benchKeys) {
				if err := c.Set(keyOf(i), value); err != nil {
					b.Fatal(err)
				}
			}
			takeTurns(b, "load", "get", func(i uint64) bool {
				_, err := c.GetOrLoad(ctx, dst, keyOf(i), nil)
				return err == nil
			}, func(i uint64) bool {
				_, ok := c.Get(dst, keyOf(i))
				return ok
			})
		})
	}
	b.Run("typed", func(b *testing.B) {
		typed := harness.NewTyped(b, harness.Open(b, firn.Options{RAMBytes: 64 << 20}), "n", firn.TypedOptions[uint64, uint64]{})
		for i := range uint64(benchKeys) {
			if err := typed.Set(i, i); err != nil {
				b.Fatal(err)
			}
		}
		takeTurns(b, "load", "get", func(i uint64) bool {
			_, err := typed.GetOrLoad(ctx, i, nil)
			return err == nil
		}, func(i uint64) bool {
			_, ok := typed.Get(i)
			return ok
		})
	})
}

// A miss of GetOrLoad, by 64 goroutines, each of keys of its own.
func BenchmarkMiss(b *testing.B) {
	c := harness.Open(b, firn.Options{RAMBytes: 64 << 20})
	value := make([]byte, 64)
	load := func(context.Context, []byte) ([]byte, error) { return value, nil }
	var callers atomic.Uint64
	b.ReportAllocs()
	b.SetParallelism(64 / runtime.GOMAXPROCS(0))
	b.RunParallel(func(pb *testing.PB) {
		key, dst := make([]byte, 16), make([]byte, 0, 64)
		binary.LittleEndian.PutUint64(key, callers.Add(1))
		for i := uint64(0); pb.Next(); i++ {
			binary.LittleEndian.PutUint64(key[8:], i)
			if _, err := c.GetOrLoad(context.Background(), dst, key, load); err != nil {
				b.Error(err)
			}
		}
	})
}
