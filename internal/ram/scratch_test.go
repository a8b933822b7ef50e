package ram

import (
	"encoding/binary"
	"testing"
)

// A shard does not keep room for its largest key: that would be memory outside
// the budget.
func TestScratchIsBounded(t *testing.T) {
	tier, err := New(Config{Bytes: 4 << 20, Seed: 1, Now: func() int64 { return 1 }})
	if err != nil {
		t.Fatal(err)
	}
	defer tier.Free()
	key := make([]byte, 200<<10)
	for i := range uint32(100) {
		binary.LittleEndian.PutUint32(key, i)
		if err := tier.Set(key, nil, 0); err != nil {
			t.Fatal(err)
		}
	}
	if tier.Stats().Evicted == 0 {
		t.Fatal("nothing was evicted: no key was looked at in the log")
	}
	for i := range tier.shards {
		if n := cap(tier.shards[i].scratch); n > keptScratch {
			t.Errorf("shard %d keeps %d bytes of scratch space, want at most %d", i, n, keptScratch)
		}
	}
}
