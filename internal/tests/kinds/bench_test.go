package kinds

import (
	"context"
	"encoding/binary"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/tests/harness"
)

// BenchmarkTyped sets a typed cache beside what one would write in its place, the
// codec and the bytes, with keys and values of the same lengths. The two take
// turns, so that whatever else the machine does hits both; what is reported are
// the medians of the turns, and what Typed costs beyond: beyond-ns.
//
// The heap is that of a program that holds something. With next to nothing on it,
// the collector would run all the time for what the codecs allocate, and every
// pointer that is stored cost more.
func BenchmarkTyped(b *testing.B) {
	heap := make([]byte, 256<<20)
	defer runtime.KeepAlive(heap)
	b.Run("uint64", func(b *testing.B) { benchTyped(b, func(i uint64) uint64 { return i }) })
	text := string(make([]byte, 64))
	b.Run("string64", func(b *testing.B) { benchTyped(b, func(uint64) string { return text }) })
	b.Run("struct", func(b *testing.B) {
		type person struct {
			ID    uint64
			Name  string
			Email string
		}
		benchTyped(b, func(i uint64) person { return person{i, "Ada Lovelace", "ada@example.org"} })
	})
}

// benched has n keys, and what is stored under them as bytes.
type benched[V any] struct {
	typed  *firn.Typed[uint64, V]
	codec  firn.Codec[V]
	c      *firn.Cache
	value  V
	stored []byte // as Typed stores it
	key    []byte
	buf    []byte
}

const benchKeys = 1 << 12

func benchTyped[V any](b *testing.B, value func(i uint64) V) {
	c := harness.OpenSmall(b, func(o *firn.Options) { o.RAMBytes = 64 << 20 })
	x := &benched[V]{typed: harness.NewTyped(b, c, "n", firn.TypedOptions[uint64, V]{}), c: c, key: make([]byte, 16), value: value(1)}
	var err error
	if x.codec, err = firn.DefaultCodec[V](); err != nil {
		b.Fatal(err)
	}
	if x.stored, err = x.codec.Append(make([]byte, 4), x.value); err != nil {
		b.Fatal(err)
	}
	for i := range uint64(benchKeys) {
		if err := x.typed.Set(i, x.value); err != nil {
			b.Fatal(err)
		}
		if err := c.Set(x.keyOf(i), x.stored); err != nil {
			b.Fatal(err)
		}
	}
	x.buf = make([]byte, 0, 2*len(x.stored))
	b.Run("Get", func(b *testing.B) {
		takeTurns(b, "typed", "by-hand", func(i uint64) bool {
			_, ok := x.typed.Get(i)
			return ok
		}, func(i uint64) bool {
			var ok bool
			if x.buf, ok = c.Get(x.buf[:0], x.keyOf(i)); !ok {
				return false
			}
			_, err := x.codec.Decode(x.buf[4:])
			return err == nil
		})
	})
	b.Run("Set", func(b *testing.B) {
		takeTurns(b, "typed", "by-hand", func(i uint64) bool {
			return x.typed.Set(i, x.value) == nil
		}, func(i uint64) bool {
			var err error
			if x.buf, err = x.codec.Append(append(x.buf[:0], "1234"...), x.value); err != nil {
				return false
			}
			return c.Set(x.keyOf(i), x.buf) == nil
		})
	})
}

// keyOf is a key of 16 bytes, as long as a typed one.
func (x *benched[V]) keyOf(i uint64) []byte {
	binary.LittleEndian.PutUint64(x.key[8:], i)
	return x.key
}

// takeTurns calls two functions in turns, each with keys below benchKeys, and
// reports the medians of their turns and the difference.
func takeTurns(b *testing.B, name, besides string, call, other func(i uint64) bool) {
	const turn = 1 << 10
	var times [2][]float64
	n := uint64(0)
	for b.Loop() {
		n += turn
		for k, call := range []func(uint64) bool{call, other} {
			start := time.Now()
			for i := range uint64(turn) {
				if !call((n + i*7) % benchKeys) {
					b.Fatal("the call failed")
				}
			}
			times[k] = append(times[k], float64(time.Since(start))/turn)
		}
	}
	median := func(k int) float64 { slices.Sort(times[k]); return times[k][len(times[k])/2] }
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(0), name+"-ns")
	b.ReportMetric(median(1), besides+"-ns")
	b.ReportMetric(median(0)-median(1), "beyond-ns")
}

// BenchmarkTypedGetOrLoad hits values through a loader that is not called: what a program
// spends that caches by GetOrLoad alone.
func BenchmarkTypedGetOrLoad(b *testing.B) {
	type pair struct{ Name, Email string }
	b.Run("two strings", func(b *testing.B) { benchGetOrLoad(b, pair{"Ada Lovelace", "ada@example.org"}, 0) })
	b.Run("two strings hot", func(b *testing.B) { benchGetOrLoad(b, pair{"Ada Lovelace", "ada@example.org"}, 4096) })
	b.Run("vector", func(b *testing.B) { benchGetOrLoad(b, make([]float32, 1536), 0) })
	b.Run("vector's bytes", func(b *testing.B) { benchGetOrLoad(b, make([]byte, 4*1536), 0) })
}

func benchGetOrLoad[V any](b *testing.B, v V, hot int) {
	c := harness.OpenSmall(b, func(o *firn.Options) { o.RAMBytes = 64 << 20 })
	t := harness.NewTyped(b, c, "n", firn.TypedOptions[uint64, V]{HotValues: hot})
	load := func(context.Context, uint64) (V, error) { return v, nil }
	b.ReportAllocs()
	for i := uint64(0); b.Loop(); i++ {
		if _, err := t.GetOrLoad(b.Context(), i%1024, load); err != nil {
			b.Fatal(err)
		}
	}
}
