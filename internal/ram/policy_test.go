package ram

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/firncache/firn/internal/policy/policytest"
	"github.com/firncache/firn/internal/policy/sim"
	"github.com/firncache/firn/internal/workload"
)

// The tier hits as often as the simulator, which the policy was chosen with, does
// in the same bytes: in one shard and in some, where ghosts, shadows and
// frequencies all count.
func TestHitsLikeTheSimulator(t *testing.T) {
	oneGoroutine(t)
	const valueLen, recordLen = 1000, 8 + 16 + 1000
	const requests = 300_000
	for _, records := range []int{250, 1000, 8000} {
		keys := 20 * records
		rng := rand.New(rand.NewPCG(1, 1))
		zipf := workload.NewZipf(rng, 0.9, uint64(keys))
		request := func(i int) int32 {
			if i%3 == 0 {
				return int32(keys + i/3%(3*records/2)) // a loop that is longer than the cache
			}
			return int32(zipf.Next())
		}
		tier, err := New(Config{Bytes: int64(records) * recordLen, Seed: 1, Now: func() int64 { return 1 }})
		if err != nil {
			t.Fatal(err)
		}
		var key [16]byte
		value, buf := make([]byte, valueLen), make([]byte, 0, valueLen)
		trace := make([]int32, requests)
		hits := 0
		for i := range trace {
			trace[i] = request(i)
			binary.LittleEndian.PutUint64(key[:], uint64(trace[i])*0x9e3779b97f4a7c15)
			if _, ok := tier.Get(buf, key[:]); ok {
				hits++
			} else if err := tier.setKey(key[:], value, 0); err != nil {
				t.Fatal(err)
			}
		}
		held := tier.Stats().Entries
		tier.Close()
		simulated := policytest.NewTier(keys+3*records/2+1, held*recordLen, func(int32) int64 { return recordLen })
		want := requests - sim.Misses(simulated, trace)
		t.Logf("%d records of %d: %.3f hits, %.3f simulated", held, records, float64(hits)/float64(requests), float64(want)/float64(requests))
		if difference := float64(hits-want) / float64(want); math.Abs(difference) > 0.03 {
			t.Errorf("%d records: %d hits, and %d simulated: %+.3f", held, hits, want, difference)
		}
	}
}
