package front

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/maypok86/otter/v2"

	"github.com/firncache/firn"
)

type profile struct {
	ID     int64
	Name   string
	Email  string
	Scores []int
}

// keysOf are requests for n keys, as they are in most programs: the first 1 %
// of the keys get the most.
func keysOf(n uint64) []uint64 {
	rng := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(rng, 1.01, 1, n-1)
	keys := make([]uint64, 1<<20)
	for i := range keys {
		keys[i] = zipf.Uint64()
	}
	return keys
}

func openCache(b *testing.B) *firn.Cache {
	c, err := firn.Open(firn.Options{RAMBytes: 128 << 20})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { c.Close() })
	return c
}

func typedOf[V any](b *testing.B, n int, value func(i uint64) V, room int) *firn.Typed[uint64, V] {
	opts := firn.TypedOptions[uint64, V]{}
	if room > 0 {
		hot, err := New[uint64, V](room)
		if err != nil {
			b.Fatal(err)
		}
		opts.Front = hot
	}
	t, err := firn.NewTyped(openCache(b), "n", opts)
	if err != nil {
		b.Fatal(err)
	}
	for i := range uint64(n) {
		if err := t.Set(i, value(i)); err != nil {
			b.Fatal(err)
		}
	}
	for range 10 {
		for i := range uint64(n) {
			t.Get(i) // twice in a row, and the front takes it
			t.Get(i)
		}
	}
	return t
}

func otterOf[V any](b *testing.B, n int, value func(i uint64) V) *otter.Cache[uint64, V] {
	c, err := otter.New(&otter.Options[uint64, V]{MaximumSize: roomFor(n)})
	if err != nil {
		b.Fatal(err)
	}
	for i := range uint64(n) {
		c.Set(i, value(i))
	}
	for range 3 {
		for i := range uint64(n) {
			c.GetIfPresent(i)
		}
		c.CleanUp()
	}
	return c
}

func number(i uint64) uint64 { return i }

func person(i uint64) profile {
	return profile{int64(i), "Ada Lovelace", "ada@example.org", []int{1, 2, 3}}
}

// roomFor is a little more than n: below half of its room, otter does not record
// its reads, and is faster than in use.
func roomFor(n int) int { return n + n/8 }

// BenchmarkHit compares a hit in the front with otter's own Get.
func BenchmarkHit(b *testing.B) {
	const n = 10_000
	keys := keysOf(n)
	b.Run("number", func(b *testing.B) { benchHit(b, keys, typedOf(b, n, number, roomFor(n)), otterOf(b, n, number)) })
	b.Run("struct", func(b *testing.B) { benchHit(b, keys, typedOf(b, n, person, roomFor(n)), otterOf(b, n, person)) })
}

// benchHit makes both take turns, so that what else the machine does hits both,
// and reports the medians of their turns and the ratio of these.
func benchHit[V any](b *testing.B, keys []uint64, typed *firn.Typed[uint64, V], own *otter.Cache[uint64, V]) {
	const turn = 1 << 12
	var turns [2][]float64
	for i := 0; b.Loop(); i++ {
		part := keys[i*turn%len(keys):][:turn]
		start := time.Now()
		for _, key := range part {
			if _, ok := own.GetIfPresent(key); !ok {
				b.Fatal("miss")
			}
		}
		middle := time.Now()
		for _, key := range part {
			if _, ok := typed.Get(key); !ok {
				b.Fatal("miss")
			}
		}
		turns[0] = append(turns[0], float64(middle.Sub(start))/turn)
		turns[1] = append(turns[1], float64(time.Since(middle))/turn)
	}
	for _, t := range turns {
		slices.Sort(t)
	}
	otterNs, frontNs := turns[0][len(turns[0])/2], turns[1][len(turns[1])/2]
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(otterNs, "otter-ns/get")
	b.ReportMetric(frontNs, "front-ns/get")
	b.ReportMetric(otterNs/frontNs, "of-otter")
}

// BenchmarkPays reads a hundred thousand values with a front of 1 % and without:
// it pays if what it saves on hits is more than what filling it costs.
func BenchmarkPays(b *testing.B) {
	const n = 100_000
	for _, load := range []struct {
		name string
		keys []uint64
	}{{"zipf", keysOf(n)}, {"uniform", uniform(n)}} {
		b.Run("number/"+load.name, func(b *testing.B) { benchPays(b, load.keys, n, number) })
		b.Run("struct/"+load.name, func(b *testing.B) { benchPays(b, load.keys, n, person) })
	}
}

// benchPays gives three typed caches turns, and reports the medians.
func benchPays[V any](b *testing.B, keys []uint64, n int, value func(uint64) V) {
	const turn = 1 << 12
	caches := []*firn.Typed[uint64, V]{typedOf(b, n, value, 0), typedOf(b, n, value, n/100), typedOf(b, n, value, n/10)}
	turns := make([][]float64, len(caches))
	for i := 0; b.Loop(); i++ {
		part := keys[i*turn%len(keys):][:turn]
		for k, typed := range caches {
			start := time.Now()
			for _, key := range part {
				if _, ok := typed.Get(key); !ok {
					b.Fatal("miss")
				}
			}
			turns[k] = append(turns[k], float64(time.Since(start))/turn)
		}
	}
	b.ReportMetric(0, "ns/op")
	for k, name := range []string{"without-ns/get", "1%-ns/get", "10%-ns/get"} {
		slices.Sort(turns[k])
		b.ReportMetric(turns[k][len(turns[k])/2], name)
	}
}

func uniform(n uint64) []uint64 {
	rng := rand.New(rand.NewPCG(3, 4))
	keys := make([]uint64, 1<<20)
	for i := range keys {
		keys[i] = rng.Uint64N(n)
	}
	return keys
}
