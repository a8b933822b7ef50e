package ram

import (
	"github.com/firncache/firn/internal/evicted"
	"github.com/firncache/firn/internal/watch"
)

// Watch begins to watch a key with this hash. The caller keeps the key as it is, and
// calls Unwatch.
func (t *Tier) Watch(w *watch.Watch, hash uint64, key []byte) {
	w.Begin(hash, key)
	s := t.shardOf(hash)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watches.Add(w)
}

// Unwatch forgets a watch.
func (t *Tier) Unwatch(w *watch.Watch) {
	s := t.shardOf(w.Hash())
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watches.Remove(w)
}

// SetIf is Set of a watched key. It fails with ErrChanged if the watch is void, and
// adds the evicted records to ev, for the caller to notify later. The watch goes on.
func (t *Tier) SetIf(w *watch.Watch, value []byte, deadline int64, ev *evicted.List) error {
	r := t.newRecord(w.Hash(), w.Key(), value, deadline)
	return t.storeIf(w, &r, ev)
}

// UpdateIf is SetIf that keeps the deadline of the key's record, which may have been touched
// since. If the record has left, or expired, that is what the last touch since the watch
// began has made of it, and without any the one given.
func (t *Tier) UpdateIf(w *watch.Watch, value []byte, deadline int64, ev *evicted.List) error {
	r := t.newRecord(w.Hash(), w.Key(), value, deadline)
	r.keepsDeadline = true
	return t.storeIf(w, &r, ev)
}

// storeIf stores a record for a watch.
func (t *Tier) storeIf(w *watch.Watch, r *newRecord, ev *evicted.List) error {
	if r.deadline != 0 {
		t.expectExpiry()
	}
	r.watch = w
	s := t.shardOf(w.Hash())
	s.mu.Lock()
	err := t.store(s, r, ev)
	switch {
	case err == nil:
		t.observeStore(r.hash, len(r.key), len(r.value), r.deadline)
	case err != ErrClosed && w.Voided():
		return watch.ErrChanged // whatever else kept it
	}
	return err
}

// DeleteIf is Delete of a watched key. It fails with ErrChanged if the watch is void,
// and adds the deleted record to ev, for the caller to notify later. The watch goes on.
func (t *Tier) DeleteIf(w *watch.Watch, ev *evicted.List) error {
	return t.DropIf(w, evicted.Deleted, ev)
}

// DropIf is Drop of a watched key, as DeleteIf is Delete.
func (t *Tier) DropIf(w *watch.Watch, cause evicted.Cause, ev *evicted.List) error {
	s := t.shardOf(w.Hash())
	s.mu.Lock()
	if s.closed || w.Voided() {
		defer s.unlock(ev)
		if s.closed {
			return ErrClosed
		}
		return watch.ErrChanged
	}
	ended := s.delete(w.Hash(), w.Key(), w, cause)
	s.unlock(ev)
	ended.CallWritten()
	t.observeDelete(w.Hash())
	return nil
}
