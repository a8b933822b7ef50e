package main

import (
	"testing"

	"github.com/firncache/firn/bench/rivals"
	"github.com/firncache/firn/bench/turn"
)

// BenchmarkClassic is fastcache's own benchmark for every cache: an operation
// is a pass over 65,536 items, and MB/s are millions of items a second.
//
//	go test -run '^$' -bench Classic -count 8
func BenchmarkClassic(b *testing.B) {
	for _, op := range classicOps {
		for _, r := range rivals.All {
			b.Run(string(op)+"/cache="+r.Name, func(b *testing.B) { benchmarkClassic(b, op, r) })
		}
	}
}

func benchmarkClassic(b *testing.B, op turn.ClassicOp, r rivals.Rival) {
	c, err := r.Open(classicConfig)
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	if err := turn.ClassicPass(c, turn.ClassicSet, new(turn.Result)); err != nil {
		b.Fatal(err)
	}
	c.Wait()
	b.ReportAllocs()
	b.SetBytes(int64(op.Ops()))
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		var r turn.Result
		for pb.Next() {
			if err := turn.ClassicPass(c, op, &r); err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*op.Ops()), "ns/item")
}
