package bufpool

import "iter"

// LevelStats are the counters and the holdings of one level.
type LevelStats struct {
	Size int // bytes of a buffer; 0: the buffers above the top level
	// InUse and Idle are blocks, lent and waiting; Bytes is the memory of both,
	// with what growth steps hold until their last block is given back.
	InUse, Idle int
	Bytes       int64
	Hits        uint64 // buffers lent from idle blocks
	Misses      uint64 // buffers that took new memory
	Grows       uint64 // buffers that left this level for a larger one
	GivenBack   uint64 // blocks returned to the collector or the system
	Leaked      uint64 // buffers that the collector found forgotten
	OffHeapFail uint64 // off-heap growth steps that the Go heap had to serve
}

// Stats returns the levels by size, and last, with Size 0, over-size buffers:
// lent above the top level. Each figure was true during the call.
func (p *Pool) Stats() []LevelStats {
	var stats []LevelStats
	for l := range p.all() {
		stats = append(stats, l.stats())
	}
	return stats
}

// Bytes is the memory that the pool owns at this moment, lent and idle.
func (p *Pool) Bytes() int64 { return p.owned.Load() + p.above.owned.Load() }

// all visits the levels by size, then the one above.
func (p *Pool) all() iter.Seq[*level] {
	return func(yield func(*level) bool) {
		for i := range p.levels {
			if !yield(&p.levels[i]) {
				return
			}
		}
		yield(&p.above)
	}
}

func (l *level) stats() LevelStats {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := LevelStats{
		Size:        l.size,
		Bytes:       l.owned.Load(),
		Misses:      l.past.misses,
		Grows:       l.grows.Load(),
		GivenBack:   l.past.givenBack,
		Leaked:      l.past.leaked,
		OffHeapFail: l.failed.Load(),
	}
	lends := l.past.lends
	for _, sl := range l.slots {
		st := sl.state.get()
		lends += st.lends()
		if st.lent() {
			s.InUse++
		} else {
			s.Idle++
		}
	}
	s.Hits = lends - min(lends, s.Misses) // a block is counted as made before it is lent
	return s
}
