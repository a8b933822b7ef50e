package ram

import "github.com/firncache/firn/internal/record"

// Watch begins to watch a key with this hash. The caller keeps the key as it is, and
// calls Unwatch.
func (t *Tier) Watch(w *Watch, hash uint64, key []byte) {
	w.hash, w.key = hash, key
	if w.Written == nil { // it may have been void before
		w.void.Store(false)
	}
	s := t.shardOf(hash)
	s.mu.Lock()
	defer s.mu.Unlock()
	w.touched = false
	s.watches.add(w)
}

// Unwatch forgets a watch.
func (t *Tier) Unwatch(w *Watch) {
	s := t.shardOf(w.hash)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watches.remove(w)
}

// SetIf is Set of a watched key. It fails with ErrChanged if the watch is void, and
// adds the evicted records to ev, for the caller to notify later. The watch goes on.
func (t *Tier) SetIf(w *Watch, value []byte, deadline int64, ev *Evicted) error {
	r := t.newRecord(w.hash, w.key, value, deadline)
	return t.storeIf(w, &r, ev)
}

// UpdateIf is SetIf that keeps the deadline of the key's record, which may have been touched
// since. If the record has left, or expired, that is what the last touch since the watch
// began has made of it, and without any the one given.
func (t *Tier) UpdateIf(w *Watch, value []byte, deadline int64, ev *Evicted) error {
	r := t.newRecord(w.hash, w.key, value, deadline)
	r.keepsDeadline = true
	return t.storeIf(w, &r, ev)
}

// storeIf stores a record for a watch.
func (t *Tier) storeIf(w *Watch, r *newRecord, ev *Evicted) error {
	if r.deadline != 0 {
		t.expectExpiry()
	}
	r.watch = w
	s := t.shardOf(w.hash)
	s.mu.Lock()
	err := t.store(s, r, ev)
	switch {
	case err == nil:
		t.tellStore(r.hash, len(r.key), len(r.value), r.deadline)
	case err != ErrClosed && w.Voided():
		return ErrChanged // whatever else kept it
	}
	return err
}

// DeleteIf is Delete of a watched key. It fails with ErrChanged if the watch is void,
// and adds the deleted record to ev, for the caller to notify later. The watch goes on.
func (t *Tier) DeleteIf(w *Watch, ev *Evicted) error { return t.DropIf(w, Deleted, ev) }

// DropIf is Drop of a watched key, as DeleteIf is Delete.
func (t *Tier) DropIf(w *Watch, cause Cause, ev *Evicted) error {
	s := t.shardOf(w.hash)
	s.mu.Lock()
	if s.closed || w.Voided() {
		defer s.unlock(ev)
		if s.closed {
			return ErrClosed
		}
		return ErrChanged
	}
	ended := s.delete(w.hash, w.key, w, cause)
	s.unlock(ev)
	ended.callWritten()
	t.tellDelete(w.hash)
	return nil
}

// keepDeadline gives a record on its way the deadline of the key's live one, or the last
// that is known of it.
func (s *shard) keepDeadline(r *newRecord) {
	t, deadline := s.tier, r.deadline
	if w := r.watch; w.touched {
		deadline = w.deadline
	}
	if _, _, old, ok := s.find(r.hash, r.key); ok && !t.expired(&old) {
		deadline = t.deadline(&old)
	}
	if deadline == r.deadline {
		return
	}
	r.deadline = deadline
	r.shape = record.ShapeOf(len(r.key), len(r.value), r.deadline != 0)
	r.size = t.roundUp(record.Size(len(r.key), len(r.value), r.deadline != 0))
}
