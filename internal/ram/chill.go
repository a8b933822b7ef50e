package ram

// The system takes memory back in pages. In a cache that was small when it was
// made several segments share one, which goes back once all of them are free.

// chill gives the memory of free segments back to the system through decommit,
// which takes a run of them, until no more than most have any.
func (p *pool) chill(most int, decommit func(first, n uint32)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.resident() > most && p.recycled.n > 0 {
		p.chillRecycled(most, decommit)
	}
	if beyond := uint32(max(0, p.resident()-most)); p.ready > p.fresh && beyond > 0 {
		n := min(beyond, p.ready-p.fresh)
		p.ready -= n
		decommit(p.ready, n)
	}
}

// chillRecycled is chill for segments that were used.
func (p *pool) chillRecycled(most int, decommit func(first, n uint32)) {
	free, all := p.freeByPage(), p.recycled
	p.recycled = chain{}
	for all.n > 0 {
		id := all.pop(p.segs)
		page := id / p.perPage
		if free[page] == p.perPage && p.resident() > most {
			decommit(page*p.perPage, p.perPage)
			free[page]++ // all others of the page turn cold as well
		}
		if free[page] > p.perPage {
			p.cold.push(p.segs, id)
		} else {
			p.recycled.push(p.segs, id)
		}
	}
}

// freeByPage counts the free segments of each page.
func (p *pool) freeByPage() []uint32 {
	free := make([]uint32, p.fresh/p.perPage+1)
	for _, c := range []chain{p.recycled, p.cold} {
		for id := c.head; c.n > 0; c.n-- {
			free[id/p.perPage]++
			id = p.segs[id].next
		}
	}
	free[0]++ // segment 0, which nobody uses
	free[p.fresh/p.perPage] += p.perPage - p.fresh%p.perPage
	return free
}
