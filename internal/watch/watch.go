// Package watch notices the writes of a key, for a write that is to happen only if there was
// none, as WATCH does in Redis.
package watch

import (
	"bytes"
	"errors"
	"sync/atomic"
)

// ErrChanged says that a key was written since it is watched.
var ErrChanged = errors.New("ram: changed since")

// Watch notices the writes of a key from a moment on, for a write that is to happen only
// if there was none. Writes are Set, Delete and Clear, and the SetIf and DeleteIf of
// other watches. That a record is moved, evicted, demoted, promoted or expires is no
// write.
type Watch struct {
	// Written, if set, is called when the first write of the key is over, before
	// it is acknowledged, with no lock held. It is set before the watch begins.
	// A watch without it ends with its own first write, too; and once it is Voided,
	// no Table refers to it: it may begin again without Unwatch.
	Written Written

	hash uint64
	key  []byte // the caller's, unchanged while the watch goes on
	void atomic.Bool

	touched  bool  // the key's record was, since
	deadline int64 // that it was given last

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

// Begin makes the watch one of a key with this hash, before it is added to a Table. A watch
// that has a Written stays void if it was.
func (w *Watch) Begin(hash uint64, key []byte) {
	w.hash, w.key = hash, key
	if w.Written == nil {
		w.void.Store(false)
	}
}

// Hash is the hash of the watched key.
func (w *Watch) Hash() uint64 { return w.hash }

// Key is the watched key.
func (w *Watch) Key() []byte { return w.key }

// Touched is the last deadline that the key's record was given since the watch began. It
// reports false if there was none.
func (w *Watch) Touched() (deadline int64, ok bool) { return w.deadline, w.touched }

// Table has the watches of a shard, whose lock guards it. Usually they are few and short:
// those are a list, which costs no allocation.
type Table struct {
	n      int    // how many there are
	few    *Watch // up to fewWatches, of any hash
	inFew  int
	byHash map[uint64]*Watch // the others; nil without any
}

const fewWatches = 4

// None reports whether nothing is watched.
func (t *Table) None() bool { return t.n == 0 }

// Add begins a watch.
func (t *Table) Add(w *Watch) {
	w.touched = false
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

// Touch notes in the watches of a key which deadline its record has got.
func (t *Table) Touch(hash uint64, key []byte, deadline int64) {
	for _, list := range [...]*Watch{t.few, t.byHash[hash]} {
		for w := list; w != nil; w = w.next {
			if w.hash == hash && bytes.Equal(w.key, key) {
				w.touched, w.deadline = true, deadline
			}
		}
	}
}

// Remove ends one watch.
func (t *Table) Remove(w *Watch) {
	t.take(w.hash, func(v *Watch) bool { return v == w }, nil)
}

// End ends the watches of a key that is being written, other than the writer's own if
// that goes on, and returns those whose Written is due when the lock is released.
func (t *Table) End(hash uint64, key []byte, own *Watch) (ended *Watch) {
	if own != nil && own.Written == nil {
		own = nil
	}
	return t.take(hash, func(w *Watch) bool { return w != own && bytes.Equal(w.key, key) }, nil)
}

// EndHash is End for every key with a hash, and puts those whose Written is due before those that were
// ended already.
func (t *Table) EndHash(hash uint64, ended *Watch) *Watch {
	if t.None() {
		return ended
	}
	return t.take(hash, func(*Watch) bool { return true }, ended)
}

// EndOf is EndHash for every hash that which accepts.
func (t *Table) EndOf(which func(hash uint64) bool, ended *Watch) *Watch {
	n := t.n
	for w, next := t.few, (*Watch)(nil); w != nil; w = next {
		if next = w.next; which(w.hash) {
			ended = t.takeFrom(&t.few, w.hash, func(v *Watch) bool { return v == w }, ended)
		}
	}
	t.inFew -= n - t.n
	for hash, w := range t.byHash {
		if which(hash) {
			ended = t.takeFrom(&w, hash, func(*Watch) bool { return true }, ended)
			delete(t.byHash, hash)
		}
	}
	return ended
}

// take ends watches of a hash, takes them out and returns those whose Written is due, before those
// taken already.
func (t *Table) take(hash uint64, which func(*Watch) bool, taken *Watch) *Watch {
	n := t.n
	taken = t.takeFrom(&t.few, hash, which, taken)
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
func (t *Table) takeFrom(list **Watch, hash uint64, which func(*Watch) bool, taken *Watch) *Watch {
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

// End makes the watch void, which was taken out, and puts it before those that were ended
// already if its Written is due. Otherwise it is its owner's from here on.
func (w *Watch) end(ended *Watch) *Watch {
	if w.Written != nil {
		w.next, ended = ended, w
	}
	w.Void()
	return ended
}

// CallWritten calls Written of this watch and those linked behind it. The caller holds no
// lock.
func (w *Watch) CallWritten() {
	for ; w != nil; w = w.next {
		w.Written.KeyWritten()
	}
}
