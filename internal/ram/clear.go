package ram

import "github.com/firncache/firn/internal/policy"

// Clear removes every record that was there when it was called. One that is set
// meanwhile may stay. It reports false if the tier is closed.
func (t *Tier) Clear() bool {
	for i := range t.shards {
		t.shards[i].empty()
	}
	t.full.Store(false)
	return !t.closed.Load()
}

// empty removes every record of a shard: at once, or record by record if OnEvict
// is to be told.
func (s *shard) empty() {
	told := s.tier.onEvict != nil
	if told {
		s.removeAll()
	}
	s.mu.Lock()
	if !s.closed && (!told || s.table.Len() == 0) {
		s.clear()
	}
	ended := s.watches.endAll()
	s.mu.Unlock()
	ended.callWritten()
}

// clear empties a shard. Nothing can be found before any segment is given back.
func (s *shard) clear() {
	s.demotions.allDied()
	chunks := s.table.Clear()
	if id := s.drain.id; id != 0 {
		s.tier.segs[id].live = 0
		s.release(id)
	}
	for q := range policy.Lane(lanes) {
		s.seal(q)
		for id := s.queues[q].head; id != 0; id = s.queues[q].head {
			s.tier.segs[id].live = 0
			s.release(id)
		}
		s.queues[q].bytes = 0
	}
	for _, chunk := range chunks {
		s.retire(chunk)
	}
}

// removeAll removes the records that are there when it begins, a step at a time, and
// tells OnEvict after each, with the shard unlocked. It goes by the index, as All does:
// records may be moved between two steps.
func (s *shard) removeAll() {
	s.mu.Lock()
	buckets := s.table.Buckets()
	s.mu.Unlock()
	for j := uint32(0); j < buckets; {
		j = s.removeFrom(j, buckets)
	}
}

// removeFrom does a step of removeAll, and returns the bucket where the next one
// begins.
func (s *shard) removeFrom(j, buckets uint32) (next uint32) {
	var ev Evicted
	s.mu.Lock()
	if s.closed {
		j = buckets
	}
	for ; j < buckets && s.evicted.size() < step; j++ {
		s.removeUnder(j, buckets)
	}
	ended := s.watches.endAll() // with each step: a load may store in a bucket that is behind us
	s.unlock(&ev)
	ended.callWritten()
	ev.Notify()
	return j
}

// removeUnder removes the records under one bucket.
func (s *shard) removeUnder(j, buckets uint32) {
	var room [32]uint32
	locs := room[:0] // first: removing one moves others in their chain
	for loc := range s.table.Under(j, buckets) {
		locs = append(locs, loc)
	}
	for _, loc := range locs {
		r := s.tier.recordAt(s.tier.place(loc))
		hash := s.tier.Hash(s.key(&r))
		if b, slot, ok := s.table.Find(hash, loc); ok {
			s.remove(hash, b, slot, &r, Deleted)
		}
	}
}
