package hot

import (
	"hash/maphash"
	"math/bits"
	"reflect"
	"sync"
	"sync/atomic"
)

const (
	ways      = 7
	clockBits = 8 * ways // of a set's word: behind a byte of each key's hash, a bit for each entry
	setBytes  = 64
	doorBytes = 4
	minSets   = 1 << 5
	slack     = 16 // bytes that an allocation is longer than its value, about
)

// Table has values under keys. Get takes no lock. Put and Delete of one key must not run at
// once: then a Get that begins after a Delete has returned finds no value from before it. All
// else may. Which values stay is the table's choice.
type Table[K comparable, V any] struct {
	seed   maphash.Seed
	most   int   // sets that it grows to
	fixed  int64 // bytes of an entry, without those that its key and value refer to
	budget *Budget

	now    atomic.Pointer[sets[K, V]]
	mu     sync.Mutex // held while now or its entries change; a leaf
	closed bool
}

// sets are a table of one size. A larger one begins empty: a value on its way there might be
// deleted behind it.
type sets[K comparable, V any] struct {
	sets  []set[K, V]
	door  []atomic.Uint32 // none for the first, which lets every key in
	taken int64           // bytes of the budget; mu guards it
	hand  uint64          // place at which victim looked last; mu guards it
	lacks atomic.Int64    // values driven out, and keys kept out
}

type set[K comparable, V any] struct {
	word    atomic.Uint64
	entries [ways]atomic.Pointer[entry[K, V]]
}

type entry[K comparable, V any] struct {
	key   K
	value V
	bytes int64
}

// Open makes t an empty table of n values at most, known to its budget until Close. Of the
// bytes that are said to be a value's, inline lie in V itself.
func (t *Table[K, V]) Open(n, inline int, b *Budget) {
	t.seed, t.budget = maphash.MakeSeed(), b
	t.most = max(1<<bits.Len(uint((n-1)/ways)), minSets)
	t.fixed = int64(reflect.TypeFor[entry[K, V]]().Size()) + slack - int64(inline)
	b.add(t)
}

// Get is the value of a key, which must not be changed: nil if it is not there.
func (t *Table[K, V]) Get(key K) *V {
	if e := t.get(key, true); e != nil {
		return &e.value
	}
	return nil
}

// Read is the key as the table has it, if its value was read since it was put there, or since the
// last round.
func (t *Table[K, V]) Read(key K) (own K, ok bool) {
	if e := t.get(key, false); e != nil {
		return e.key, true
	}
	return own, false
}

// get notes a read, or finds only what was read.
func (t *Table[K, V]) get(key K, read bool) *entry[K, V] {
	now := t.now.Load()
	if now == nil {
		return nil
	}
	hash := maphash.Comparable(t.seed, key)
	s := now.set(hash)
	word, tag := s.word.Load(), byte(hash>>56)
	for i := range ways {
		if byte(word>>(8*i)) != tag {
			continue
		}
		if e := s.entries[i].Load(); e != nil && e.key == key {
			if bit := uint64(1) << (clockBits + i); word&bit == 0 {
				if !read {
					return nil
				}
				s.word.Or(bit)
			}
			return e
		}
	}
	return nil
}

// set is where the keys of a hash are.
func (n *sets[K, V]) set(hash uint64) *set[K, V] { return &n.sets[hash&uint64(len(n.sets)-1)] }

// find is where a key is in its set. It looks at the keys: of a tag, a write of another key may
// be under way.
func (s *set[K, V]) find(key K) (i int, e *entry[K, V]) {
	for i := range ways {
		if e := s.entries[i].Load(); e != nil && e.key == key {
			return i, e
		}
	}
	return 0, nil
}

// Delete removes the value of a key.
func (t *Table[K, V]) Delete(key K) {
	now := t.now.Load()
	if now == nil {
		return
	}
	s := now.set(maphash.Comparable(t.seed, key))
	if _, e := s.find(key); e == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.now.Load() != now {
		return // it is empty
	}
	if i, e := s.find(key); e != nil {
		s.entries[i].Store(nil)
		now.taken -= e.bytes
		t.budget.give(e.bytes)
	}
}

// Drop empties the table, and gives its memory back.
func (t *Table[K, V]) Drop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.replace(nil)
}

// Close is Drop of a table that stays empty.
func (t *Table[K, V]) Close() {
	t.budget.remove(t)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	t.replace(nil)
}

// replace makes other sets the table's. The caller holds mu.
func (t *Table[K, V]) replace(by *sets[K, V]) {
	if old := t.now.Swap(by); old != nil {
		t.budget.give(old.taken)
	}
}
