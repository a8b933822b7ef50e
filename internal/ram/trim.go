package ram

// The system takes memory back in pages. In a cache that was small when it was
// made several segments share one, which goes back once all of them are free.

// trim gives the memory of up to n free segments back to the system through
// decommit, which takes a run of them. With keepSpare it leaves those that may be used.
func (p *pool) trim(keepSpare bool, n int, decommit func(first, n uint32)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n = min(n, p.trimmableLocked(keepSpare)); p.perPage > 1 {
		n -= p.trimPages(n, decommit)
	}
	for ; n > 0 && p.perPage == 1 && p.recycled.n > 0; n-- {
		id := p.recycled.pop(p.segs)
		decommit(id, 1)
		p.decommitted.push(p.segs, id)
	}
	if idle := uint32(min(n, int(p.ready)-int(p.fresh))); n > 0 && p.ready > p.fresh {
		p.ready -= idle
		decommit(p.ready, idle)
	}
}

// trimPages is trim for segments that were used and share pages. It returns how
// many of them have no memory any more.
func (p *pool) trimPages(n int, decommit func(first, n uint32)) (trimmed int) {
	free, all := p.freeByPage(), p.recycled
	p.recycled = chain{}
	for all.n > 0 {
		id := all.pop(p.segs)
		page := id / p.perPage
		if free[page] == p.perPage && trimmed < n {
			decommit(page*p.perPage, p.perPage)
			free[page]++ // all others of the page lose theirs as well
		}
		if free[page] > p.perPage {
			p.decommitted.push(p.segs, id)
			trimmed++
		} else {
			p.recycled.push(p.segs, id)
		}
	}
	return trimmed
}

// freeByPage counts the free segments of each page.
func (p *pool) freeByPage() []uint32 {
	free := make([]uint32, p.fresh/p.perPage+1)
	for _, c := range []chain{p.recycled, p.decommitted} {
		for id := c.head; c.n > 0; c.n-- {
			free[id/p.perPage]++
			id = p.segs[id].next
		}
	}
	free[0]++ // segment 0, which nobody uses
	free[p.fresh/p.perPage] += p.perPage - p.fresh%p.perPage
	return free
}
