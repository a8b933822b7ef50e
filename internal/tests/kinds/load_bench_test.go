package kinds

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

// A miss of GetOrLoad, by 64 goroutines, each of keys of its own, with a context that can end.
func BenchmarkMiss(b *testing.B) {
	type pair struct{ Name, Email string }
	c := harness.Open(b, firn.Options{RAMBytes: 64 << 20})
	typed := harness.NewTyped(b, c, "n", firn.TypedOptions[uint64, pair]{})
	value, ada := make([]byte, 64), pair{"Ada Lovelace", "ada@example.org"}
	load := func(context.Context, []byte) ([]byte, error) { return value, nil }
	loadTyped := func(context.Context, uint64) (pair, error) { return ada, nil }
	b.Run("bytes", func(b *testing.B) {
		missInParallel(b, func(ctx context.Context, dst []byte, caller, i uint64) error {
			var key [16]byte
			binary.LittleEndian.PutUint64(key[:], caller)
			binary.LittleEndian.PutUint64(key[8:], i)
			_, err := c.GetOrLoad(ctx, dst, key[:], load)
			return err
		})
	})
	b.Run("typed", func(b *testing.B) {
		missInParallel(b, func(ctx context.Context, _ []byte, caller, i uint64) error {
			_, err := typed.GetOrLoad(ctx, caller<<32|i, loadTyped)
			return err
		})
	})
}

var missCallers atomic.Uint64 // no key comes twice

func missInParallel(b *testing.B, miss func(ctx context.Context, dst []byte, caller, i uint64) error) {
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	b.ReportAllocs()
	b.SetParallelism(64 / runtime.GOMAXPROCS(0))
	b.RunParallel(func(pb *testing.PB) {
		dst, caller := make([]byte, 0, 64), missCallers.Add(1)
		for i := uint64(0); pb.Next(); i++ {
			if err := miss(ctx, dst, caller, i); err != nil {
				b.Error(err)
			}
		}
	})
}
