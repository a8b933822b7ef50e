package registry

import (
	"math/bits"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"github.com/firncache/firn/internal/offheap"
)

// Table holds the numbers of a bounded number of ids. All methods are safe for
// concurrent use.
//
// # Never an old number again
//
// A number that was replaced must not come back: whoever kept something under it
// would find it again. So a new number is drawn at random, of 64 bits. One exception
// serves those who lose the table and not what lies under its numbers, which
// SSDOptions.Recovery allows if asked: the first number of an id is made of the id and
// the seed, and so the next table has the same. It can be given out only once for
// as long as the table knows every id that ever had a number; from the moment on at
// which it forgets one, the first number of an id that it does not know is random too.
// The word that says so lies in the table's memory, and is set before the slot is taken.
// With RecoverAlways, and a table that is lost with the memory of the machine, a
// cleared namespace is therefore found as it was before it was first cleared: as
// outdated as everything that is found then.
//
// # Memory
//
// The table lies in memory that is given to it, which may outlive the process. A kill
// at any instruction leaves it whole: a number is replaced by one aligned store; a
// slot is taken over by storing 0 as its number, then the id, then the number; and a
// slot whose number is 0 has nothing.
//
//	0        8       64         72               88
//	┌────────┬───────┬──────────┬────────────────┬─ ─ ─
//	│ forgot │ zeros │ number   │ id             │ next slot
//	└────────┴───────┴──────────┴────────────────┴─ ─ ─
//
// A quarter of the slots are for namespaces, which may stand in any of them; the others
// are for tags, in sets of 16, of which the id chooses one.
type Table struct {
	forgot *atomic.Uint64
	slots  []slot
	marks  []atomic.Uint32 // of the slots; on the heap
	seed   uint64
	mu     sync.Mutex // of insertions and takeovers; a leaf
	stored func()     // for tests: called after each store of an insertion
}

type slot struct {
	number atomic.Uint64
	id     [2]atomic.Uint64
}

// The marks.
const (
	unmarked uint32 = iota
	used            // since the slot was last about to be taken over
	held
)

// ways is how many slots a tag may stand in.
const ways = 16

// New makes a table of memory of Bytes of some power of two of slots, which is empty,
// or was a table's. Without memory it lies on the heap, with MinSlots. The seed is that
// of the ids' first numbers.
func New(mem []byte, seed uint64) *Table {
	if len(mem) == 0 {
		mem = make([]byte, Bytes(MinSlots))
	}
	t := &Table{seed: seed, forgot: &offheap.View[atomic.Uint64](mem[:8])[0], slots: offheap.View[slot](mem[headBytes:])}
	t.marks, t.stored = make([]atomic.Uint32, len(t.slots)), func() {}
	return t
}

// Slots is how many slots there are.
func (t *Table) Slots() int { return len(t.slots) }

// set are the slots that an id may stand in.
func (t *Table) set(w [2]uint64) (from, to int) {
	namespaces := len(t.slots) / 4
	if byte(w[0]) == Namespace {
		return 0, namespaces
	}
	n, _ := bits.Mul64(w[1], uint64((len(t.slots)-namespaces)/ways))
	from = namespaces + ways*int(n)
	return from, from + ways
}

// find is the slot of an id, and the number in it; -1 if it has none.
func (t *Table) find(w [2]uint64) (at int, number uint64) {
	from, to := t.set(w)
	for i := from; i < to; i++ {
		if n := t.slots[i].read(w); n != 0 {
			return i, n
		}
	}
	return -1, 0
}

// read is the number of an id, if it stands in the slot; otherwise 0. It was there
// while the id was: if it is the same before and after.
func (s *slot) read(w [2]uint64) uint64 {
	for n := s.number.Load(); n != 0; {
		if s.id[0].Load() != w[0] || s.id[1].Load() != w[1] {
			return 0
		}
		again := s.number.Load()
		if again == n {
			return n
		}
		n = again
	}
	return 0
}

// Get is the number of an id, if the table knows one. It takes no lock.
func (t *Table) Get(id ID) (number uint64, ok bool) {
	at, number := t.find(id.words())
	if at < 0 {
		return 0, false
	}
	t.mark(at)
	return number, true
}

// mark notes that a slot was used.
func (t *Table) mark(at int) {
	if t.marks[at].Load() == unmarked {
		t.marks[at].CompareAndSwap(unmarked, used)
	}
}

// GetOrDraw is the number of an id. One that the table does not know gets a number.
func (t *Table) GetOrDraw(id ID) uint64 {
	if n, ok := t.Get(id); ok {
		return n
	}
	return t.getOrInsert(id.words(), used)
}

// Bump gives an id another number, which no id has had before, and returns it.
func (t *Table) Bump(id ID) uint64 {
	w, n := id.words(), draw()
	t.mu.Lock()
	defer t.mu.Unlock()
	if at, _ := t.find(w); at >= 0 {
		t.slots[at].number.Store(n)
		t.mark(at)
	} else {
		t.insert(w, n, used)
	}
	return n
}

// Hold is GetOrDraw of an id whose slot is not taken over until Release. While all its
// slots are held, the number that is returned is known to the caller alone.
func (t *Table) Hold(id ID) uint64 {
	return t.getOrInsert(id.words(), held)
}

// Release ends Hold.
func (t *Table) Release(id ID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if at, _ := t.find(id.words()); at >= 0 {
		t.marks[at].CompareAndSwap(held, used)
	}
}

func draw() uint64 { return max(rand.Uint64(), 1) }
