package ssd

// Invalidate takes the record of a key out: the key was set or deleted above. It does
// not come back, also if the process dies as soon as this returns.
func (t *Tier) Invalidate(hash uint64) {
	x := t.ids.Of(hash)
	s := t.index.ShardOf(x)
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if at, e, ok := s.Search(s.FingerprintOf(x)); ok {
		t.dropEntry(s, x, at, e)
		t.count.invalidated.Add(1)
	}
}

// IsCurrent reports whether the record with this LSN is still the one that the index names
// for the hash.
func (t *Tier) IsCurrent(hash, lsn uint64) bool {
	if t.state.Load() != on {
		return false
	}
	x := t.ids.Of(hash)
	s := t.index.ShardOf(x)
	s.Mu.Lock()
	defer s.Mu.Unlock()
	e, ok := s.Find(x)
	return ok && t.log.LSNAt(s.Location(e)) == lsn
}

// Lacks reports whether the index names no record for the hash, or the one with this LSN,
// of which a read has found that it is none of the key's. An LSN of 0 is no record's.
func (t *Tier) Lacks(hash, lsn uint64) bool {
	if t.state.Load() != on {
		return true
	}
	x := t.ids.Of(hash)
	s := t.index.ShardOf(x)
	s.Mu.Lock()
	defer s.Mu.Unlock()
	e, ok := s.Find(x)
	return !ok || t.log.LSNAt(s.Location(e)) == lsn
}
