package bytes

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/cachetest"
	"github.com/firncache/firn/internal/invariants"
	"github.com/firncache/firn/internal/tests/harness"
)

// loads are what a budget must hold under: each is what write number i stores.
var loads = map[string]func(i uint64) (key uint64, size int, ttl time.Duration){
	"small values": func(i uint64) (uint64, int, time.Duration) { return i, 4, firn.Forever },
	"large values": func(i uint64) (uint64, int, time.Duration) { return i, 200_000, firn.Forever },
	"mixed values": func(i uint64) (uint64, int, time.Duration) {
		return i, []int{0, 4, 100, 1000, 5000, 300, 66_000, 30}[i%8], firn.Forever
	},
	"one key overwritten": func(i uint64) (uint64, int, time.Duration) { return 1, int(i % 100), firn.Forever },
	"expiry only":         func(i uint64) (uint64, int, time.Duration) { return i, int(i % 300), time.Millisecond },
}

// What the cache counts as in use stays under the budget at every moment, whatever
// is stored, and under one that shrinks. That no more is resident than what it
// counts is for package memory of the module stress.
func TestBudgetCounted(t *testing.T) {
	for name, load := range loads {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bytes := int64(4 << 20)
			if invariants.Race { // where bytes move by atomic words
				bytes = 1 << 20
			}
			clock := &cachetest.Clock{}
			c := harness.Open(t, firn.Options{RAMBytes: bytes, Clock: clock.Now})
			value, written := make([]byte, 200_000), int64(0)
			for i := uint64(0); written < 3*bytes && i < 150_000; i++ {
				key, size, ttl := load(i)
				if err := c.SetWithTTL(binary.LittleEndian.AppendUint64(nil, key*0x9e3779b97f4a7c15), value[:size], ttl); err != nil {
					t.Fatal(err)
				}
				written += 24 + int64(size)
				if i%1000 == 0 || size > 1000 {
					checkCounted(t, c, bytes)
				}
				if i%5000 == 4999 {
					clock.Advance(time.Second)
					harness.Sweep(c)
				}
			}
			for _, part := range []int64{2, 4} {
				if err := c.SetRAMBytes(bytes / part); err != nil {
					t.Fatal(err)
				}
				checkCounted(t, c, bytes/part)
			}
		})
	}
}

func checkCounted(t *testing.T, c *firn.Cache, budget int64) {
	t.Helper()
	if s := c.Stats(); s.RAM.UsedBytes > budget || s.RAM.Bytes != budget {
		t.Fatalf("%d bytes in use of %d: want at most %d", s.RAM.UsedBytes, s.RAM.Bytes, budget)
	}
}
