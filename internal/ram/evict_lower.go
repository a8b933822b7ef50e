package ram

// EvictLower has take take the lower tier's record of a key out, for want of room there or,
// with expired, past its grace, under the lock that orders the writes of the key. If it
// does, and reports so, and this tier has no record of the key, the record has left the
// cache: it is added to ev, for the caller to notify later.
func (t *Tier) EvictLower(hash uint64, key, value []byte, expired bool, take func() bool, ev *Evicted) {
	cause := LowerEvicted
	if expired {
		cause = Expired
	}
	s := t.shardOf(hash)
	s.mu.Lock()
	defer s.unlock(ev)
	if !take() || s.closed || !t.Tells(cause) {
		return
	}
	if _, _, _, here := s.find(hash, key); here {
		return
	}
	if t.wants == nil || t.wants(key, cause) {
		s.noteCopy(key, value, cause)
	}
}
