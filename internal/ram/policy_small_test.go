package ram

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/firncache/firn/internal/invariants"
)

// In a tier of few records the policy hears of most reads when the records are drained.
// Two thirds of these requests are for a hot set, which fixed settings that are good for the
// rest would push out: 0.42 hits if the policy is not told, and 0.52 if it is.
func TestPolicyHearsOfReadsInSmallTiers(t *testing.T) {
	t.Parallel()
	if invariants.Race {
		t.Log("left to builds without the race detector: one goroutine, and bytes move by atomic words")
		return
	}
	const records, valueLen, requests, hot = 200, 4000, 48_000, 160
	tier, err := New(Config{Bytes: records * (8 + 16 + valueLen), Seed: 1, Now: func() int64 { return 1 }})
	if err != nil {
		t.Fatal(err)
	}
	defer tier.Close()
	rng, hits := rand.New(rand.NewPCG(1, 1)), 0
	var key [16]byte
	value, buf := make([]byte, valueLen), make([]byte, 0, valueLen)
	for i := range requests {
		k := rng.IntN(hot)
		switch once := i / 6; i % 6 { // a key that comes back once
		case 0:
			k = hot + once
		case 1:
			k = hot + max(0, once-records*3/10)
		}
		binary.LittleEndian.PutUint64(key[:], uint64(k)*0x9e3779b97f4a7c15)
		if _, ok := tier.Get(buf, key[:]); ok {
			hits++
		} else if err := tier.setKey(key[:], value, 0); err != nil {
			t.Fatal(err)
		}
	}
	if ratio := float64(hits) / requests; ratio < 0.47 {
		t.Errorf("%.3f hits: want 0.47", ratio)
	}
}
