package segments

// The system takes memory back in pages. In a cache that was small when it was
// made several segments share one, which goes back once all of them are free.

// Trim gives the memory of up to n free segments back to the system through
// decommit, which takes a run of them. With keepSpare it leaves those that may be used.
func (p *Pool) Trim(keepSpare bool, n int, decommit func(first, n uint32)) {
	p.Lock()
	defer p.Unlock()
	if n = min(n, p.trimmableLocked(keepSpare)); p.perPage > 1 {
		n -= p.trimPages(n, decommit)
	}
	for ; n > 0 && p.perPage == 1 && p.recycled.N > 0; n-- {
		id := p.recycled.Pop(p.segs)
		decommit(id, 1)
		p.decommitted.Push(p.segs, id)
	}
	if idle := uint32(min(n, int(p.ready)-int(p.Fresh))); n > 0 && p.ready > p.Fresh {
		p.ready -= idle
		decommit(p.ready, idle)
	}
}

// trimPages is trim for segments that were used and share pages. It returns how
// many of them have no memory any more.
func (p *Pool) trimPages(n int, decommit func(first, n uint32)) (trimmed int) {
	free, all := p.freeByPage(), p.recycled
	p.recycled = Chain{}
	for all.N > 0 {
		id := all.Pop(p.segs)
		page := id / p.perPage
		if free[page] == p.perPage && trimmed < n {
			decommit(page*p.perPage, p.perPage)
			free[page]++ // all others of the page lose theirs as well
		}
		if free[page] > p.perPage {
			p.decommitted.Push(p.segs, id)
			trimmed++
		} else {
			p.recycled.Push(p.segs, id)
		}
	}
	return trimmed
}

// freeByPage counts the free segments of each page.
func (p *Pool) freeByPage() []uint32 {
	free := make([]uint32, p.Fresh/p.perPage+1)
	for _, c := range []Chain{p.recycled, p.decommitted} {
		for id := c.head; c.N > 0; c.N-- {
			free[id/p.perPage]++
			id = p.segs[id].Next
		}
	}
	free[0]++ // segment 0, which is none
	free[p.Fresh/p.perPage] += p.perPage - p.Fresh%p.perPage
	return free
}
