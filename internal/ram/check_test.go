package ram

import (
	"fmt"
	"testing"
)

// Check notices whatever is set wrong.
func TestCheckNotices(t *testing.T) {
	for name, spoil := range map[string]func(s *shard){
		"live bytes":    func(s *shard) { s.tier.segs[s.queues[1].head].live++ },
		"lane bytes":    func(s *shard) { s.queues[1].bytes-- },
		"queue link":    func(s *shard) { s.tier.segs[s.queues[1].tail].prev = 0 },
		"queue end":     func(s *shard) { s.queues[1].tail = s.queues[1].head },
		"owner":         func(s *shard) { s.tier.segs[s.queues[1].head].owner.Store(99) },
		"segment count": func(s *shard) { s.held.Add(1) },
		"pool count":    func(s *shard) { s.tier.pool.used++ },
		"free list":     func(s *shard) { s.tier.pool.fresh++ },
		"limit":         func(s *shard) { s.tier.pool.limit = 1 },
		"deadline":      func(s *shard) { s.tier.segs[s.lanes[1].seg].latest = 1 },
		"odd version":   func(s *shard) { s.tier.header(uint64(s.queues[1].head) << s.tier.segShift).version.Add(1) },
		"key bytes":     func(s *shard) { s.tier.region.Bytes(uint64(s.queues[1].head)<<s.tier.segShift+8, 1)[0] ^= 1 },
	} {
		t.Run(name, func(t *testing.T) {
			tier := newTier(t, 64<<10)
			for i := range 100 {
				deadline := int64(0)
				if i == 99 {
					deadline = 5000
				}
				tier.janitor.once.Do(func() {})
				if err := tier.Set(fmt.Appendf(nil, "%04d", i), make([]byte, 100), deadline); err != nil {
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
