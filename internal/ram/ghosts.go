package ram

import (
	"github.com/firncache/firn/internal/offheap"
	"github.com/firncache/firn/internal/policy"
)

// takeGhosts gives the shard, when it first has to evict, ghosts in proportion to
// its entries. Memory that was kept for them and is not needed becomes room: it reports
// whether that makes a segment.
func (s *shard) takeGhosts() (freed bool) {
	if s.hasGhosts {
		return false
	}
	t := s.tier
	s.hasGhosts = true
	bytes, freed := t.grantGhosts(int64(s.table.Len()))
	s.ghosts = policy.NewGhosts(offheap.View[uint64](t.region.Bytes(s.ghostsAt(), int(bytes))))
	return freed
}

// ghostsAt is where the shard's ghosts lie in the region.
func (s *shard) ghostsAt() uint64 { return s.tier.ghostAt + uint64(s.number-1)*s.tier.ghostMax }

// prefetchGhost starts to load the place of a key's ghost.
func (s *shard) prefetchGhost(hash uint64) {
	if off, ok := s.ghosts.Offset(hash); ok {
		s.tier.region.Prefetch(s.ghostsAt() + off)
	}
}

// grantGhosts charges the ghosts of a shard of so many entries to the budget, in place
// of the room that was kept for them.
func (t *Tier) grantGhosts(entries int64) (bytes int64, freed bool) {
	t.pool.Lock()
	defer t.pool.Unlock()
	bytes = t.ghostBytes(entries)
	t.ghostless--
	t.overhead.Add(bytes)
	was := t.pool.Limit
	t.setLimitLocked(t.bytes.Load())
	return bytes, t.pool.Limit > was
}
