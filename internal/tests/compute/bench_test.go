package compute

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/tests/harness"
)

// BenchmarkCompute compares what Compute costs with a Get and a Set: of a million keys of 16
// bytes at random, and of few, which the processor's caches hold.
func BenchmarkCompute(b *testing.B) {
	ctx := context.Background()
	for name, n := range map[string]uint64{"1M keys": 1 << 20, "1K keys": 1 << 10} {
		c, err := firn.Open(firn.Options{RAMBytes: 512 << 20})
		if err != nil {
			b.Fatal(err)
		}
		defer c.Close()
		key, value := make([]byte, 16), make([]byte, 100)
		for i := range n {
			binary.LittleEndian.PutUint64(key, i)
			harness.Must(b, c.Set(key, value))
			binary.LittleEndian.PutUint64(key[8:], 1)
			harness.Must(b, c.Set(key, value[:8]))
			binary.LittleEndian.PutUint64(key[8:], 0)
		}
		dst := make([]byte, 0, 200)
		update := func(old []byte, ok bool) ([]byte, firn.Op) { return old, firn.OpUpdate }
		keep := func(old []byte, ok bool) ([]byte, firn.Op) { return nil, firn.OpKeep }
		for call, do := range map[string]func(key []byte){
			"Get":               func(key []byte) { c.Get(dst, key) },
			"Set":               func(key []byte) { harness.Must(b, c.Set(key, value)) },
			"Get and Set":       func(key []byte) { c.Get(dst, key); harness.Must(b, c.Set(key, value)) },
			"Compute, OpUpdate": func(key []byte) { harness.Must(b, c.Compute(ctx, key, update)) },
			"Compute, OpKeep":   func(key []byte) { harness.Must(b, c.Compute(ctx, key, keep)) },
			"SetIfAbsent, present": func(key []byte) {
				_, err := c.SetIfAbsent(ctx, key, value)
				harness.Must(b, err)
			},
			"Increment": func(key []byte) {
				key[8] = 1
				_, err := c.Increment(ctx, key, 1)
				key[8] = 0
				harness.Must(b, err)
			},
		} {
			b.Run(name+"/"+call, func(b *testing.B) {
				rng := rand.New(rand.NewPCG(1, 2))
				b.ReportAllocs()
				for b.Loop() {
					binary.LittleEndian.PutUint64(key, rng.Uint64()%n)
					do(key)
				}
			})
		}
	}
}
