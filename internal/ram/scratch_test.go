package ram

import (
	"encoding/binary"
	"runtime"
	"testing"
)

// A shard does not keep room for its largest key: that would be memory outside
// the budget.
func TestScratchIsBounded(t *testing.T) {
	oneGoroutine(t)
	tier, err := New(Config{Bytes: 4 << 20, Seed: 1, Now: func() int64 { return 1 }})
	if err != nil {
		t.Fatal(err)
	}
	defer tier.Free()
	key := make([]byte, 200<<10)
	for i := range uint32(100) {
		binary.LittleEndian.PutUint32(key, i)
		if err := tier.setKey(key, nil, 0); err != nil {
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

// What a shard does not keep it leaves for the next: looking at long records in
// the log does not make garbage of each.
func TestScratchIsShared(t *testing.T) {
	oneGoroutine(t)
	low := newLower()
	demoted := 0
	low.seen = func(uint64, []byte, bool) { demoted++ }
	low.admit = func() bool { return false }
	tier, err := New(Config{Bytes: 4 << 20, Seed: 1, Now: func() int64 { return 1 }, Lower: low})
	if err != nil {
		t.Fatal(err)
	}
	defer tier.Free()
	value := make([]byte, 40<<10)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	const n = 300
	for i := range uint32(n) {
		if err := tier.setKey(binary.LittleEndian.AppendUint32(nil, i), value, 0); err != nil {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	if demoted < n/2 {
		t.Fatalf("%d records left RAM", demoted)
	}
	if each := int(after.TotalAlloc-before.TotalAlloc) / demoted; each > len(value)/2 {
		t.Errorf("%d bytes were allocated for each record of %d bytes", each, len(value))
	}
}
