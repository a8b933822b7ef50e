package ram

// noteEvicted copies a record that leaves, for OnEvict. It does nothing if nobody
// listens, or if the record is a negative entry.
func (s *shard) noteEvicted(r *stored, cause Cause) {
	if !s.tier.Tells(cause) || s.tier.deadline(r) < 0 {
		return
	}
	if wants := s.tier.wants; wants != nil && !wants(s.key(r), cause) {
		return
	}
	key, value := s.keyValue(r)
	s.noteCopy(key, value, cause)
}

// noteCopy copies a key and a value for OnEvict.
func (s *shard) noteCopy(key, value []byte, cause Cause) {
	if s.evicted == nil {
		s.evicted = evictedPool.Get().(*evictedBatch)
	}
	s.work.bytes += len(key) + len(value)
	s.evicted.add(key, value, cause)
}

// noteReplaced notes that a record gives way to another of the same key.
func (s *shard) noteReplaced(r *stored) {
	if !s.tier.tellsOfWrites() {
		return
	}
	cause := Replaced
	if s.tier.pastGrace(r) {
		cause = Expired
	}
	s.noteEvicted(r, cause)
}

// unlock releases the shard, and adds the records that were noted to ev.
func (s *shard) unlock(ev *Evicted) {
	if s.tier.unlocking != nil {
		s.tier.unlocking(s.work)
	}
	s.work = work{}
	if e := s.evicted; e != nil {
		s.evicted = nil
		e.to = s.tier.onEvict
		ev.add(e)
	}
	if cap(s.scratch) > keptScratch { // lest each shard keeps one of its largest record, outside the budget
		s.tier.scratch.give(s.scratch)
		s.scratch = nil
	}
	s.mu.Unlock()
}

// unlockAside is unlockAndNotify for a caller that must not wait for the user.
func (s *shard) unlockAside() {
	var ev Evicted
	s.unlock(&ev)
	ev.notifyAside()
}

// unlockAndNotify releases the shard and notifies of the records that were noted.
func (s *shard) unlockAndNotify() {
	var ev Evicted
	s.unlock(&ev)
	ev.Notify()
}
