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
	// A watch without it ends with its own first write, too; and once it is Voided,
	// nobody else refers to it: it may begin anew, without Unwatch.
	Written Written

	hash uint64
	key  []byte // whose it stays: nobody changes it
	void atomic.Bool

	touched  bool  // the key's record was, since; then
	deadline int64 // is what it got last

	next *Watch // in the shard, of the same hash; then of those that one write has ended
}

// Written is notified of a write. It is an interface, as a method value of each load's would be
// an allocation.
type Written interface{ KeyWritten() }

// WrittenFunc is a function as a Written.
type WrittenFunc func()

// KeyWritten calls f.
func (f WrittenFunc) KeyWritten() { f() }

// Void ends the watch without a write: its SetIf and DeleteIf fail.
func (w *Watch) Void() { w.void.Store(true) }

// Voided reports whether the key was written since, or Void called. It is never
// late for a write that was acknowledged.
func (w *Watch) Voided() bool { return w.void.Load() }

// Hash is the hash of the watched key.
func (w *Watch) Hash() uint64 { return w.hash }

// watchTable has a shard's watches. As a rule they are few, and come and go: those are a
// list, which costs no allocation.
type watchTable struct {
	n      int    // how many there are
	few    *Watch // up to fewWatches, of any hash
	inFew  int
	byHash map[uint64]*Watch // the others; nil without any
}

const fewWatches = 4

// none reports whether nothing is watched.
func (t *watchTable) none() bool { return t.n == 0 }

// add begins a watch.
func (t *watchTable) add(w *Watch) {
	t.n++
	if t.inFew < fewWatches {
		t.inFew++
		w.next, t.few = t.few, w
		return
	}
	if t.byHash == nil {
		t.byHash = make(map[uint64]*Watch)
	}
	w.next = t.byHash[w.hash]
	t.byHash[w.hash] = w
}

// touch notes in the watches of a key which deadline its record has got.
func (t *watchTable) touch(hash uint64, key []byte, deadline int64) {
	for _, list := range [...]*Watch{t.few, t.byHash[hash]} {
		for w := list; w != nil; w = w.next {
			if w.hash == hash && bytes.Equal(w.key, key) {
				w.touched, w.deadline = true, deadline
			}
		}
	}
}

// remove ends one watch.
func (t *watchTable) remove(w *Watch) {
	t.take(w.hash, func(v *Watch) bool { return v == w })
}

// end ends the watches of a key that is being written, but for the writer's own if
// that goes on, and returns those of which Written is due when the lock is released.
func (t *watchTable) end(hash uint64, key []byte, own *Watch) (ended *Watch) {
	if own != nil && own.Written == nil {
		own = nil
	}
	return t.take(hash, func(w *Watch) bool { return w != own && bytes.Equal(w.key, key) })
}

// endAll is end for every key.
func (t *watchTable) endAll() (ended *Watch) {
	all := func(*Watch) bool { return true }
	for t.few != nil {
		ended = t.takeFrom(&t.few, t.few.hash, all, ended)
	}
	for _, w := range t.byHash {
		ended = t.takeFrom(&w, w.hash, all, ended)
	}
	t.inFew, t.byHash = 0, nil
	return ended
}

// take ends watches of a hash, takes them out and returns those of which Written is due.
func (t *watchTable) take(hash uint64, which func(*Watch) bool) (taken *Watch) {
	n := t.n
	taken = t.takeFrom(&t.few, hash, which, nil)
	t.inFew -= n - t.n
	rest := t.byHash[hash]
	if rest == nil {
		return taken
	}
	if taken = t.takeFrom(&rest, hash, which, taken); rest != nil {
		t.byHash[hash] = rest
	} else if delete(t.byHash, hash); len(t.byHash) == 0 {
		t.byHash = nil
	}
	return taken
}

// takeFrom takes out of a list, and puts what it takes before those taken already.
func (t *watchTable) takeFrom(list **Watch, hash uint64, which func(*Watch) bool, taken *Watch) *Watch {
	for w := *list; w != nil; w = *list {
		if w.hash != hash || !which(w) {
			list = &w.next
			continue
		}
		*list = w.next
		t.n--
		taken = w.end(taken)
	}
	return taken
}

// end makes the watch void, which was taken out, and puts it before those that were ended
// already if its Written is due. Otherwise it is its owner's from here on.
func (w *Watch) end(ended *Watch) *Watch {
	if w.Written != nil {
		w.next, ended = ended, w
	}
	w.Void()
	return ended
}

// callWritten calls Written of this watch and those linked behind it. The caller holds no
// lock.
func (w *Watch) callWritten() {
	for ; w != nil; w = w.next {
		w.Written.KeyWritten()
	}
}
