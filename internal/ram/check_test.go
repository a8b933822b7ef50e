package ram

import (
	"encoding/binary"
	"fmt"
	"testing"
)

// Check notices whatever is set wrong.
func TestCheckNotices(t *testing.T) {
	for name, spoil := range map[string]func(s *shard){
		"live bytes":    func(s *shard) { s.tier.segs[s.queues[1].Head].Live++ },
		"lane bytes":    func(s *shard) { s.queues[1].Bytes-- },
		"queue link":    func(s *shard) { s.tier.segs[s.queues[1].Tail].Prev = 0 },
		"queue end":     func(s *shard) { s.queues[1].Tail = s.queues[1].Head },
		"owner":         func(s *shard) { s.tier.segs[s.queues[1].Head].Owner.Store(99) },
		"segment count": func(s *shard) { s.held.Add(1) },
		"pool count":    func(s *shard) { s.tier.pool.Used++ },
		"free list":     func(s *shard) { s.tier.pool.Fresh++ },
		"limit":         func(s *shard) { s.tier.pool.Limit = 1 },
		"deadline":      func(s *shard) { s.tier.segs[s.lanes[1].Seg].Latest = 1 },
		"odd version":   func(s *shard) { s.tier.header(uint64(s.queues[1].Head) << s.tier.segShift).version.Add(1) },
		"key bytes":     func(s *shard) { s.tier.region.Bytes(uint64(s.queues[1].Head)<<s.tier.segShift+8, 1)[0] ^= 1 },
	} {
		t.Run(name, func(t *testing.T) {
			tier := newTier(t, 64<<10)
			for i := range 100 {
				deadline := int64(0)
				if i == 99 {
					deadline = 5000
				}
				tier.janitor.once.Do(func() {})
				if err := tier.setKey(fmt.Appendf(nil, "%04d", i), make([]byte, 100), deadline); err != nil {
					t.Fatal(err)
				}
			}
			if err := tier.Check(); err != nil {
				t.Fatal(err)
			}
			spoil(&tier.shards[0])
			if err := tier.Check(); err == nil {
				t.Error("not noticed")
			}
		})
	}
}

// After a cache full of tiny records, whose ghosts are many, has shrunk as far as
// it can, the largest record that it takes finds room.
func TestLargestRecordAfterShrinking(t *testing.T) {
	oneGoroutine(t)
	tier, err := New(Config{Bytes: 4 << 20, Seed: 1, Now: func() int64 { return 1 }})
	if err != nil {
		t.Fatal(err)
	}
	defer tier.Close()
	var key [8]byte
	for i := range 150_000 {
		binary.LittleEndian.PutUint64(key[:], uint64(i))
		if err := tier.setKey(key[:], key[:], 0); err != nil {
			t.Fatal(err)
		}
	}
	if tier.Stats().Evicted == 0 {
		t.Fatal("nothing was evicted")
	}
	tier.resizing.Lock()
	least := tier.minBytes()
	tier.resizing.Unlock()
	if err := tier.SetBytes(least); err != nil {
		t.Fatal(err)
	}
	if s := tier.Stats(); s.Used > s.Budget {
		t.Errorf("%d bytes used of %d", s.Used, s.Budget)
	}
	value := make([]byte, tier.MaxRecord()-8)
	for i := range 20 {
		binary.LittleEndian.PutUint64(key[:], uint64(i))
		if err := tier.setKey(key[:], value, 0); err != nil {
			t.Fatal(err)
		}
		if v, ok := tier.Get(nil, key[:]); !ok || len(v) != len(value) {
			t.Fatalf("%d bytes of %d are found", len(v), len(value))
		}
	}
}
