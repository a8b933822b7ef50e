package ram

import (
	"bytes"
	"errors"
	"sync/atomic"
)

// ErrChanged says that a key was written since it is watched.
var ErrChanged = errors.New("ram: changed since")

// Watch tells whether anybody writes a key from a moment on, for a write that is
// to happen only if nobody has. Writes are Set, Delete and Clear, and the SetIf
// and DeleteIf of other watches. That a record is moved, evicted, demoted,
// promoted or expires is no write.
type Watch struct {
	// Written, if set, is called when the first write of the key is over, before
	// it is acknowledged, with no lock held. It is set before the watch begins.
	Written func()

	hash uint64
	key  []byte // whose it stays: nobody changes it
	void atomic.Bool
	next *Watch // in the shard, of the same hash; then of those that one write has ended
}

// Void ends the watch without a write: its SetIf and DeleteIf fail.
func (w *Watch) Void() { w.void.Store(true) }

// Voided reports whether the key was written since, or Void called. It is never
// late for a write that was acknowledged.
func (w *Watch) Voided() bool { return w.void.Load() }

// Hash is the hash of the watched key.
func (w *Watch) Hash() uint64 { return w.hash }

// watchTable has a shard's watches by the hash of their keys; it is nil without any.
type watchTable map[uint64]*Watch

// add begins a watch.
func (t *watchTable) add(w *Watch) {
	if *t == nil {
		*t = make(watchTable, 1)
	}
	w.next = (*t)[w.hash]
	(*t)[w.hash] = w
}

// remove ends one watch.
func (t *watchTable) remove(w *Watch) {
	t.take(w.hash, func(v *Watch) bool { return v == w })
}

// end ends the watches of a key that is being written, but for the writer's own,
// and returns them: their callWritten is due when the lock is released.
func (t *watchTable) end(hash uint64, key []byte, own *Watch) (ended *Watch) {
	if (*t)[hash] == nil { // as a rule: it is another key that is watched
		return nil
	}
	return t.take(hash, func(w *Watch) bool { return w != own && bytes.Equal(w.key, key) })
}

// endAll is end for every key.
func (t *watchTable) endAll() (ended *Watch) {
	for _, w := range *t {
		for w != nil {
			w.Void()
			w, w.next, ended = w.next, ended, w
		}
	}
	*t = nil
	return ended
}

// take ends watches of a hash, takes them out and returns them.
func (t *watchTable) take(hash uint64, which func(*Watch) bool) (taken *Watch) {
	var rest *Watch
	for w := (*t)[hash]; w != nil; {
		next, to := w.next, &rest
		if which(w) {
			w.Void()
			to = &taken
		}
		w.next, *to = *to, w
		w = next
	}
	if rest != nil {
		(*t)[hash] = rest
	} else if delete(*t, hash); len(*t) == 0 {
		*t = nil
	}
	return taken
}

// callWritten calls Written of this watch and those linked behind it. The caller holds no
// lock.
func (w *Watch) callWritten() {
	for ; w != nil; w = w.next {
		if w.Written != nil {
			w.Written()
		}
	}
}
