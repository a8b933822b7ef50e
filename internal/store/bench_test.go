package store

import (
	"encoding/binary"
	"testing"

	"github.com/firncache/firn/internal/local"
	"github.com/firncache/firn/internal/shared/sharedtest"
)

// BenchmarkLocalHit is a Get of a value in RAM, in a store of its own and as a copy of what a
// shared tier has.
func BenchmarkLocalHit(b *testing.B) {
	const n = 1 << 17
	for _, withShared := range []bool{false, true} {
		name := "alone"
		if withShared {
			name = "shared"
		}
		b.Run(name, func(b *testing.B) {
			cfg := Config{Config: local.Config{RAMBytes: 64 << 20}}
			if withShared {
				cfg.Shared = sharedtest.NewServer().Tier()
			}
			var s Store
			if err := s.Open(cfg); err != nil {
				b.Fatal(err)
			}
			defer func() { _ = s.Close() }()
			var key [24]byte
			value := make([]byte, 100)
			for i := range uint64(n) {
				binary.LittleEndian.PutUint64(key[:], i)
				if err := s.Set(s.Hash(key[:]), key[:], value, 0); err != nil {
					b.Fatal(err)
				}
			}
			dst := make([]byte, 0, 128)
			x := uint64(1)
			b.ReportAllocs()
			for b.Loop() {
				x = x*6364136223846793005 + 1442695040888963407
				binary.LittleEndian.PutUint64(key[:], x>>47)
				if _, ok := s.Get(dst, key[:]); !ok {
					b.Fatal("a miss")
				}
			}
		})
	}
}
