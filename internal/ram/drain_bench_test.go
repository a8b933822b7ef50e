package ram

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/firncache/firn/internal/record"
)

// costly is a lower tier that takes every record, and half a microsecond for it.
type costly struct{}

func (costly) Demote(hash uint64, _, _ []byte, _ int64, _ bool, _ record.Copy) bool {
	for range 350 {
		hash = bits.RotateLeft64(hash*0x9e3779b97f4a7c15, 1)
	}
	return hash != 0
}

func (costly) Prefetch(uint64)                                        {}
func (costly) Invalidate(uint64)                                      {}
func (costly) WaitForRoom(waited time.Duration) (time.Duration, bool) { return waited, true }
func (costly) IsCurrent(uint64, uint64) bool                          { return false }
func (costly) Has(uint64) bool                                        { return false }

// BenchmarkSetOverLower stores values under uniform keys, four times as many as
// there is room for, in eight goroutines, and tells how long the slowest Sets take.
func BenchmarkSetOverLower(b *testing.B) {
	for _, size := range []int{64, 640, 4000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			const budget = 512 << 20
			tier, err := New(Config{Bytes: budget, Seed: 1, Lower: costly{}})
			if err != nil {
				b.Fatal(err)
			}
			defer tier.Free()
			keys, value := uint64(4*budget/(size+40)), make([]byte, size)
			for k := uint64(0); tier.Stats().Demoted < 100_000; k += 10_000 {
				for i := range uint64(10_000) {
					set(b, tier, (k+i)%keys, value)
				}
			}
			var all latencies
			b.SetParallelism((8 + runtime.GOMAXPROCS(0) - 1) / runtime.GOMAXPROCS(0))
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				var own latencies
				rng := rand.New(rand.NewPCG(rand.Uint64(), 1))
				for last := time.Now(); pb.Next(); {
					set(b, tier, rng.Uint64N(keys), value)
					now := time.Now()
					own.add(now.Sub(last))
					last = now
				}
				all.merge(&own)
			})
			b.StopTimer()
			for _, q := range []float64{50, 99, 99.9, 99.99} {
				b.ReportMetric(float64(all.quantile(q/100)), fmt.Sprintf("p%v-ns", q))
			}
		})
	}
}

func set(b *testing.B, tier *Tier, k uint64, value []byte) {
	var key [16]byte
	binary.LittleEndian.PutUint64(key[:], k)
	if err := tier.setKey(key[:], value, 0); err != nil {
		b.Error(err)
	}
}

// latencies counts durations by their size, in steps of a sixteenth.
type latencies struct {
	mu sync.Mutex
	n  [64 * 16]uint64
}

func (l *latencies) add(d time.Duration) {
	n := max(uint64(d), 16)
	e := bits.Len64(n) - 5
	l.n[e*16+int(n>>e)-16]++
}

func (l *latencies) merge(o *latencies) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, n := range o.n {
		l.n[i] += n
	}
}

// quantile is the least duration that so many are not above.
func (l *latencies) quantile(q float64) time.Duration {
	total := uint64(0)
	for _, n := range l.n {
		total += n
	}
	want := uint64(q * float64(total))
	for i, n := range l.n {
		if want < n {
			return time.Duration(uint64(i%16+16) << (i / 16))
		}
		want -= n
	}
	return 0
}
