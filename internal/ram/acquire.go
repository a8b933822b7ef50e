package ram

// A write that lacks segments takes what is free and makes room for the rest. It
// holds what it got meanwhile, and others do likewise. So that writes never wait
// for each other's, one that finds nothing left to reclaim gives back all that it
// holds before it waits, and so does one that waits for the tier below: who waits
// holds nothing, and who holds something goes on.

// acquire finds n segments for a shard, reclaiming what it must; what leaves
// for it is added to left. It may return fewer: the caller asks again for what is
// missing then. ErrNoRoom says that there are not so many: nothing can be evicted
// any more, and no other write holds any. The caller holds no shard's lock.
func (t *Tier) acquire(s *shard, r *newRecord, n int, left *Left) (got chain, err error) {
	if n == 2 { // which is common, and mostly there
		if t.pool.gather(r, &got, n, true); got.n == n {
			return got, nil
		}
	}
	got, err = t.collect(s, r, n, left)
	switch {
	case err == errLong:
		t.standBack(s, r, got, left)
		left.goDown()
	case err == errBusy && !r.promoted:
		t.standBack(s, r, got, left)
		t.awaitBelow(r)
	default:
		return got, err
	}
	return chain{}, nil
}

// collect is acquire that does not wait for the tier below, but returns errBusy or
// errLong.
func (t *Tier) collect(s *shard, r *newRecord, n int, left *Left) (got chain, err error) {
	if n > 2 || n > 1 && !r.promoted { // one at a time, lest all is evicted for parts of what each needs
		switch {
		case r.promoted:
			if !t.large.TryLock() {
				return got, errBusy
			}
		case r.holds:
			t.standBack(s, r, got, left)
			return chain{}, nil
		default:
			t.large.Lock()
		}
		defer t.large.Unlock()
	}
	for {
		event := t.pool.gather(r, &got, n, r.whole)
		if got.n == n {
			return got, nil
		}
		if t.closed.Load() || !t.fits(r) { // closed, or the budget was lowered meanwhile
			return got, t.refusal()
		}
		switch freed, err := t.makeRoom(s, r, left); {
		case err != nil:
			return got, err
		case freed:
			r.whole = false
		case r.holds:
			r.whole = true
			t.standBack(s, r, got, left)
			return chain{}, nil
		case t.pool.await(event):
		case t.closed.Load(): // which is why nothing could be reclaimed
			return got, ErrClosed
		default:
			return got, ErrNoRoom
		}
	}
}

// standBack gives back all segments that a write holds.
func (t *Tier) standBack(s *shard, r *newRecord, got chain, left *Left) {
	s.mu.Lock()
	s.addSpare(got)
	s.finish(r, left)
}

// gather takes for a write what c lacks of n segments, as far as there are any,
// or with whole all or none. It returns the number of events so far.
func (p *pool) gather(r *newRecord, c *chain, n int, whole bool) (event uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	limit := p.limit - p.reserve
	if whole && p.used+n-c.n > limit {
		return p.events
	}
	if p.takeLocked(c, n-c.n, limit) > 0 && !r.holds {
		r.holds = true
		p.holders++
	}
	return p.events
}

// settle ends a write's holding of segments: it has used or given back all.
func (p *pool) settle(r *newRecord) {
	if !r.holds {
		return
	}
	r.holds = false
	p.mu.Lock()
	defer p.mu.Unlock()
	p.holders--
	p.noteEvent()
}

// await waits for an event after the one of that number. It reports false if
// there will be none: no write holds segments. The caller holds none either.
func (p *pool) await(event uint64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.events == event {
		if p.holders == 0 {
			return false
		}
		p.changed.Wait()
	}
	return true
}

// lastEvent is the number of events so far.
func (p *pool) lastEvent() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.events
}

// noteEvent tells waiting writes to look again.
func (p *pool) noteEvent() {
	p.events++
	p.changed.Broadcast()
}

// wakeWriters is noteEvent for who does not hold the lock.
func (p *pool) wakeWriters() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.noteEvent()
}
