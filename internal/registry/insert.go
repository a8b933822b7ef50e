package registry

import (
	"math/rand/v2"
	"sync/atomic"
)

// getOrInsert is the number of an id, whose slot is marked.
func (t *Table) getOrInsert(w [2]uint64, mark uint32) uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	at, number := t.find(w)
	if at >= 0 {
		t.marks[at].Store(max(t.marks[at].Load(), mark))
		return number
	}
	if t.forgot.Load() == 0 {
		number = first(w, t.seed)
	} else {
		number = draw()
	}
	t.insert(w, number, mark)
	return number
}

// insert gives an id a slot, unless all of its set are held. The caller holds mu, and
// has not found the id.
func (t *Table) insert(w [2]uint64, number uint64, mark uint32) {
	at := t.room(w)
	if at < 0 || t.slots[at].number.Load() != 0 {
		t.forgot.Store(1) // before the number is gone
		t.stored()
	}
	if at < 0 {
		return
	}
	s := &t.slots[at]
	for _, store := range [...]struct {
		word  *atomic.Uint64
		value uint64
	}{{&s.number, 0}, {&s.id[0], w[0]}, {&s.id[1], w[1]}, {&s.number, number}} {
		store.word.Store(store.value)
		t.stored()
	}
	t.marks[at].Store(mark)
}

// room is a slot for an id: an empty one, or the one that a clock finds: the first from
// a random one on that was not used since the last time. -1 if all are held.
func (t *Table) room(w [2]uint64) int {
	from, to := t.set(w)
	for i := from; i < to; i++ {
		if t.slots[i].number.Load() == 0 {
			return i
		}
	}
	n := to - from
	start := rand.IntN(n)
	for i := range 2 * n { // the first round takes the marks away
		at := from + (start+i)%n
		if m := &t.marks[at]; !m.CompareAndSwap(used, unmarked) && m.Load() == unmarked {
			return at
		}
	}
	return -1
}

// All yields every id that the table knows, with its number.
func (t *Table) All(yield func(id ID, number uint64) bool) {
	for i := range t.slots {
		s := &t.slots[i]
		w := [2]uint64{s.id[0].Load(), s.id[1].Load()}
		if n := s.read(w); n != 0 && !yield(idOf(w), n) {
			return
		}
	}
}

// Forgot reports whether the table has forgotten an id.
func (t *Table) Forgot() bool { return t.forgot.Load() != 0 }

// Restore gives an empty table what another one had.
func (t *Table) Restore(forgot bool, all func(yield func(id ID, number uint64) bool)) {
	if forgot {
		t.forgot.Store(1)
	}
	for id, n := range all {
		t.mu.Lock()
		if w := id.words(); n != 0 {
			if at, _ := t.find(w); at < 0 {
				t.insert(w, n, unmarked)
			}
		}
		t.mu.Unlock()
	}
}

// Reset makes the table forget all, as a new one that never knew any.
func (t *Table) Reset() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range t.slots {
		t.slots[i].number.Store(0)
		t.marks[i].Store(unmarked)
	}
	t.forgot.Store(0)
}
