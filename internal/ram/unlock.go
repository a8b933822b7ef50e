package ram

import "github.com/firncache/firn/internal/evicted"

// NotifyOf sets the causes for which OnEvict, which has to be set, is called.
func (t *Tier) NotifyOf(causes evicted.Causes) { t.causes.Store(uint32(causes)) }

// Notifies reports whether OnEvict is called for a cause.
func (t *Tier) Notifies(c evicted.Cause) bool { return evicted.Causes(t.causes.Load()).Has(c) }

// notifiesOfWrites reports whether OnEvict is called for records that give way to others.
func (t *Tier) notifiesOfWrites() bool {
	return t.causes.Load()&(1<<evicted.Replaced|1<<evicted.Expired) != 0
}

// noteEvicted copies a record that leaves, for OnEvict. It does nothing if OnEvict is not
// called for the cause, or if the record is a negative entry.
func (s *shard) noteEvicted(r *stored, cause evicted.Cause) {
	if !s.tier.Notifies(cause) || s.tier.deadline(r) < 0 {
		return
	}
	if wants := s.tier.wants; wants != nil && !wants(s.key(r), cause) {
		return
	}
	key, value := s.keyValue(r)
	s.noteCopy(key, value, cause)
}

// noteCopy copies a key and a value for OnEvict.
func (s *shard) noteCopy(key, value []byte, cause evicted.Cause) {
	if s.evicted == nil {
		s.evicted = evicted.NewBatch()
	}
	s.work.bytes += len(key) + len(value)
	s.evicted.Add(key, value, cause)
}

// noteReplaced notes that a record gives way to another of the same key.
func (s *shard) noteReplaced(r *stored) {
	if !s.tier.notifiesOfWrites() {
		return
	}
	cause := evicted.Replaced
	if s.tier.pastGrace(r) {
		cause = evicted.Expired
	}
	s.noteEvicted(r, cause)
}

// unlock releases the shard, and adds the records that were noted to ev.
func (s *shard) unlock(ev *evicted.List) {
	if s.tier.unlocking != nil {
		s.tier.unlocking(s.work)
	}
	s.work = work{}
	if e := s.evicted; e != nil {
		s.evicted = nil
		ev.Add(e, s.tier.onEvict)
	}
	if cap(s.scratch) > keptScratch { // else each shard keeps one of its largest record, outside the budget
		s.tier.scratch.give(s.scratch)
		s.scratch = nil
	}
	s.mu.Unlock()
}

// unlockAside is unlockAndNotify for a caller that must not wait for the user.
func (s *shard) unlockAside() {
	var ev evicted.List
	s.unlock(&ev)
	ev.NotifyAside()
}

// unlockAndNotify releases the shard and notifies of the records that were noted.
func (s *shard) unlockAndNotify() {
	var ev evicted.List
	s.unlock(&ev)
	ev.Notify()
}
