package hot

import (
	"hash/maphash"
	"math/rand/v2"
	"sync/atomic"
)

// Place is room for one value that is about to be put into a table.
type Place struct {
	bytes int64 // of the value
	taken int64 // of these, of the budget; the rest is to be had from others
}

// Admit reports whether the value of a key that was read is to be put into the table, and finds
// room for it: size is of its bytes and the key's, about. Put or Forgo follows. Where it is to
// take the room of others, only one in admitEvery is let in: those that are read often come soon,
// and the rest cost no more than their bytes do. It may ask for memory, which calls the user's
// OnEvict: no lock is held.
func (t *Table[K, V]) Admit(key K, size int) (p Place, ok bool) {
	t.budget.settle() // the RAM tier may have become full
	now := t.now.Load()
	if now == nil || t.isTight(now) {
		if now = t.grow(now); now == nil {
			return p, false
		}
	}
	if now.door != nil && !now.knows(maphash.Comparable(t.seed, key)) {
		return p, false
	}
	if p = t.Room(size); p.taken == 0 && rand.Uint32()%admitEvery != 0 {
		return p, false
	}
	return p, true
}

// admitEvery is how many values are read for one that drives out others.
const admitEvery = 4

// Room is Admit of a key that the table has, or had a moment ago.
func (t *Table[K, V]) Room(size int) (p Place) {
	p.bytes = t.fixed + int64(size)
	if t.budget.take(p.bytes) {
		p.taken = p.bytes
	}
	return p
}

// Forgo gives back the room of a value that is not put there.
func (t *Table[K, V]) Forgo(p Place) { t.budget.give(p.taken) }

// isTight reports whether as many values were driven out, or kept out by the door, as there are
// places: in a table that is too small, keys that are read in turn drive each other from the door.
func (t *Table[K, V]) isTight(now *sets[K, V]) bool {
	return len(now.sets) < t.most && now.lacks.Load() > int64(len(now.sets)*ways)
}

// grow makes the table larger, by four at once, if the budget has room: it begins empty. Where the
// budget lets only a few of the places be taken, more of them would not help.
func (t *Table[K, V]) grow(old *sets[K, V]) *sets[K, V] {
	n, door := minSets, 0
	if old != nil {
		n = min(4*len(old.sets), t.most)
		door = n * ways
		old.lacks.Store(0) // or the next one tries at once
		if t.budget.isSpent() && old.isSparse() {
			return old
		}
	}
	bytes := int64(n)*setBytes + int64(door)*doorBytes
	if !t.budget.take(bytes) {
		return old
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if now := t.now.Load(); now != old || t.closed {
		t.budget.give(bytes)
		return now
	}
	next := &sets[K, V]{sets: make([]set[K, V], n), taken: bytes}
	if door > 0 {
		next.door = make([]atomic.Uint32, door)
	}
	t.replace(next)
	return next
}

// isSparse reports whether fewer than half of the places are taken.
func (n *sets[K, V]) isSparse() bool {
	taken := 0
	for i := range n.sets {
		for j := range ways {
			if n.sets[i].entries[j].Load() != nil {
				taken++
			}
		}
	}
	return 2*taken < len(n.sets)*ways
}

// knows reports whether a key was the last that came to its place at the door, and notes it.
func (n *sets[K, V]) knows(hash uint64) bool {
	place, mark := &n.door[hash%uint64(len(n.door))], uint32(hash>>32)|1
	if place.Load() == mark {
		return true
	}
	place.Store(mark)
	n.lacks.Add(1)
	return false
}

// Put puts the value of a key where Admit found room.
func (t *Table[K, V]) Put(key K, value V, p Place) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now.Load()
	if now == nil {
		t.budget.give(p.taken)
		return
	}
	hash := maphash.Comparable(t.seed, key)
	s := now.set(hash)
	i, old := s.find(key)
	if old == nil {
		i = s.place(hash)
	}
	room := p.taken + now.evict(s, i)
	for n := 0; room < p.bytes; n++ {
		s, i, ok := now.victim()
		if n == maxEvicted || !ok {
			t.budget.give(room)
			return
		}
		room += now.evict(s, i)
	}
	t.budget.give(room - p.bytes)
	now.taken += p.bytes
	s.entries[i].Store(&entry[K, V]{key, value, p.bytes})
	s.mark(i, byte(hash>>56))
}

// evict empties a place, and returns how many bytes its entry had.
func (n *sets[K, V]) evict(s *set[K, V], i int) int64 {
	e := s.entries[i].Load()
	if e == nil {
		return 0
	}
	s.entries[i].Store(nil)
	n.taken -= e.bytes
	n.lacks.Add(1)
	return e.bytes
}

// place is where a new value goes: an empty place, or one whose entry was not read since the
// last round. The next round begins where all were.
func (s *set[K, V]) place(hash uint64) int {
	for i := range ways {
		if s.entries[i].Load() == nil {
			return i
		}
	}
	first, word := hash>>40, s.word.Load()
	for n := range uint64(ways) {
		if i := int((first + n) % ways); word>>(clockBits+i)&1 == 0 {
			return i
		}
	}
	s.word.And(1<<clockBits - 1)
	return int(first % ways)
}

// maxEvicted is how many values one that is put may drive out: a longer one is not put, and leaves
// the room to the next that is.
const maxEvicted = 64

// maxPassed is how many places the hand passes for one entry at most.
const maxPassed = 512

// victim is where the next entry to be evicted for the room of its bytes lies: the hand of a clock
// goes round all sets, and passes once what was read since it was there. It goes on where it was:
// where other tables have the budget, and this one little, each value would search all of it.
func (n *sets[K, V]) victim() (s *set[K, V], i int, ok bool) {
	for range maxPassed {
		n.hand++
		s, i = &n.sets[n.hand/ways%uint64(len(n.sets))], int(n.hand%ways)
		if s.entries[i].Load() == nil {
			continue
		}
		read := uint64(1) << (clockBits + i)
		if s.word.Load()&read == 0 {
			return s, i, true
		}
		s.word.And(^read)
	}
	return nil, 0, false
}

// mark notes the tag of a new entry, which was not read yet.
func (s *set[K, V]) mark(i int, tag byte) {
	for {
		old := s.word.Load()
		word := old&^(0xff<<(8*i))&^(1<<(clockBits+i)) | uint64(tag)<<(8*i)
		if s.word.CompareAndSwap(old, word) {
			return
		}
	}
}
