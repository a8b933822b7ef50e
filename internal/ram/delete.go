package ram

// Delete removes a key with this hash. It reports false if the tier is closed.
func (t *Tier) Delete(hash uint64, key []byte) bool {
	s := t.shardOf(hash)
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return false
	}
	var ev Evicted
	ended := s.delete(hash, key, nil)
	s.unlock(&ev)
	ended.callWritten()
	ev.Notify()
	return true
}

// delete returns the watches that it has ended, but for the caller's own.
func (s *shard) delete(hash uint64, key []byte, own *Watch) (ended *Watch) {
	b, slot, r, ok := s.find(hash, key)
	copied := !ok || s.tier.mayHaveLowerCopy(&r)
	switch {
	case ok && s.tier.pastGrace(&r):
		s.remove(hash, b, slot, &r, Expired)
		s.count.Expired++
	case ok:
		s.remove(hash, b, slot, &r, Deleted)
		s.count.Deletes++
	}
	return s.noteWrite(hash, key, own, copied)
}
