package ram

// headBytes is how many bytes of a value SetObsolete's function is shown at most.
const headBytes = 256

// SetObsolete has records leave, from now on, that have no reader any more and do not
// know it: where the tier would move, demote or keep a record, it calls obsolete with
// its key and the first bytes of its value, which are lent, under a shard's lock. Reads
// do not.
func (t *Tier) SetObsolete(obsolete func(key, head []byte) bool) { t.obsolete.Store(&obsolete) }

// isObsolete reports whether the record has no reader any more.
func (s *shard) isObsolete(r *stored) bool {
	f := s.tier.obsolete.Load()
	if f == nil {
		return false
	}
	n := r.shape.KeyLen()
	both := s.part(r, r.keyOffset(), n+min(r.valueLen, headBytes))
	return (*f)(both[:n:n], both[n:])
}
