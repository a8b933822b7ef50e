package ram

import (
	"github.com/firncache/firn/internal/evicted"
	"github.com/firncache/firn/internal/watch"
)

// Delete removes a key with this hash. It reports false if the tier is closed.
func (t *Tier) Delete(hash uint64, key []byte) bool {
	s := t.shardOf(hash)
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return false
	}
	var ev evicted.List
	ended := s.delete(hash, key, nil, evicted.Deleted)
	s.unlock(&ev)
	ended.CallWritten()
	ev.Notify()
	t.observeDelete(hash)
	return true
}

// Drop is Delete of a record that may not be what a shared tier has, for this cause: it is
// added to ev, for the caller to notify later.
func (t *Tier) Drop(hash uint64, key []byte, cause evicted.Cause, ev *evicted.List) bool {
	s := t.shardOf(hash)
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return false
	}
	ended := s.delete(hash, key, nil, cause)
	s.unlock(ev)
	ended.CallWritten()
	t.observeDelete(hash)
	return true
}

// delete returns the watches that it has ended, other than the caller's own. It ends them first: a
// reader, who takes no lock, may find the record gone, and then joins no load from before.
func (s *shard) delete(hash uint64, key []byte, own *watch.Watch, cause evicted.Cause) (ended *watch.Watch) {
	b, slot, r, ok := s.find(hash, key)
	copied := !ok || s.tier.mayHaveLowerCopy(&r)
	if !s.watches.None() {
		ended = s.watches.End(hash, key, own)
	}
	switch {
	case ok && s.tier.pastGrace(&r):
		s.remove(hash, b, slot, &r, evicted.Expired)
		s.count.Expired++
	case ok:
		s.remove(hash, b, slot, &r, cause)
		s.count.left(cause)
	}
	if copied {
		s.invalidateLower(hash)
	}
	return ended
}

// EvictLower removes the lower tier's record of a key by calling take under the lock that
// orders the writes of the key: because its room is needed there or, with expired, because
// it is past its grace. If take reports that it did, and this tier has no record of the key,
// the record has left the cache: it is added to ev, for the caller to notify later.
func (t *Tier) EvictLower(hash uint64, key, value []byte, expired bool, take func() bool, ev *evicted.List) {
	cause := evicted.LowerEvicted
	if expired {
		cause = evicted.Expired
	}
	s := t.shardOf(hash)
	s.mu.Lock()
	defer s.unlock(ev)
	if !take() || s.closed || !t.Notifies(cause) {
		return
	}
	if _, _, _, here := s.find(hash, key); here {
		return
	}
	if t.wants == nil || t.wants(key, cause) {
		s.noteCopy(key, value, cause)
	}
}
