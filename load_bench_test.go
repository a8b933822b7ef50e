package firn_test

import (
	"context"
	"encoding/binary"
	"testing"
	"time"

	"github.com/firncache/firn"
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
			c := open(b, x.opts)
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
		typed := newTyped(b, open(b, firn.Options{RAMBytes: 64 << 20}), "n", firn.TypedOptions[uint64, uint64]{})
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
