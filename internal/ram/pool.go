package ram

import "sync"

// pool holds the segments that no shard uses.
type pool struct {
	mu       sync.Mutex
	segs     []segment
	recycled chain  // free segments that were used before
	cold     chain  // likewise, but their memory was given back to the system
	fresh    uint32 // segments from here up were never used
	limit    int    // how many segments may be in use at once
	used     int    // how many are
	reserve  int    // how many of the limit only reclaiming may take

	prefaulted int64 // bytes made ready before their first use
}

// take moves up to n segments into c. Only reclaiming, which gives back more
// than it takes, may use the reserve.
func (p *pool) take(c *chain, n int, reclaiming bool) (taken int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	limit := p.limit
	if !reclaiming {
		limit -= p.reserve
	}
	for taken < n && p.used < limit {
		var id uint32
		switch {
		case p.recycled.n > 0:
			id = p.recycled.pop(p.segs)
		case p.cold.n > 0:
			id = p.cold.pop(p.segs)
		case int(p.fresh) < len(p.segs):
			id = p.fresh
			p.fresh++
		default:
			return taken
		}
		p.used++
		taken++
		c.push(p.segs, id)
	}
	return taken
}

// give takes segments back.
func (p *pool) give(id uint32) {
	p.mu.Lock()
	p.recycled.push(p.segs, id)
	p.used--
	p.mu.Unlock()
}

// resident is the number of segments that may be backed by memory.
func (p *pool) resident() int { return int(p.fresh) - 1 - p.cold.n }

// chill gives the memory of all free segments back to the system through
// decommit.
func (p *pool) chill(decommit func(id uint32)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.recycled.n > 0 {
		id := p.recycled.pop(p.segs)
		decommit(id)
		p.cold.push(p.segs, id)
	}
}

// over is the number of segments in use beyond the limit.
func (p *pool) over() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.used - p.limit
}
