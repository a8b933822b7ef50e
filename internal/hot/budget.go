package hot

import (
	"slices"
	"sync"
	"sync/atomic"
)

// Budget is the memory of the tables of one Cache. The zero Budget has none.
type Budget struct {
	lend  func(bytes int64) error // of the RAM tier; back to it if negative
	full  func() bool             // reports whether the RAM tier evicts
	limit atomic.Int64            // that may be lent while it does not
	lent  atomic.Int64
	used  atomic.Int64
	busy  atomic.Bool // lent is being changed: no lock, as lend calls the user's functions

	mu     sync.Mutex // of tables; a leaf
	tables []dropper
}

type dropper interface{ Drop() }

// steps are in how many steps the whole limit is borrowed.
const steps = 64

// FullShare is the part of the limit that may be lent once the RAM tier evicts.
const FullShare = 8

// Open says who lends, and how much at most. It is called before all others.
func (b *Budget) Open(lend func(bytes int64) error, full func() bool, limit int64) {
	b.lend, b.full = lend, full
	b.limit.Store(limit)
}

// allowed is how much may be lent now. A hot value saves less than a miss costs: where its memory
// is taken from other entries, there are few.
func (b *Budget) allowed() int64 {
	limit := b.limit.Load()
	if limit > 0 && b.full() {
		return limit / FullShare
	}
	return limit
}

// isSpent reports whether hardly anything can be taken any more.
func (b *Budget) isSpent() bool { return b.used.Load() > b.allowed()/8*7 }

// take takes bytes of the budget, if there are as many.
func (b *Budget) take(bytes int64) bool {
	for {
		used := b.used.Load()
		if used+bytes > b.lent.Load() {
			if !b.borrow(bytes) {
				return false
			}
			continue
		}
		if b.used.CompareAndSwap(used, used+bytes) {
			return true
		}
	}
}

func (b *Budget) give(bytes int64) { b.used.Add(-bytes) }

// borrow borrows a step more, or what is needed. It fails where another does so.
func (b *Budget) borrow(bytes int64) bool {
	if !b.busy.CompareAndSwap(false, true) {
		return false
	}
	limit := b.allowed()
	bytes = max(bytes, limit/steps)
	ok := b.lent.Load()+bytes <= limit
	if ok {
		ok = b.change(bytes) == nil
	} else {
		b.busy.Store(false)
	}
	b.settle() // with a limit that was lowered meanwhile
	return ok
}

// change has bytes more lent, or fewer if negative, for a caller that has made the budget busy,
// which it is no more then. A lend that panics has lent: OnEvict is called when that is done.
func (b *Budget) change(bytes int64) (err error) {
	defer func() {
		if err == nil {
			b.lent.Add(bytes)
		}
		b.busy.Store(false)
	}()
	err = b.lend(bytes)
	return err
}

// Limit changes how much may be lent. If that is less than is lent, the tables are emptied and
// all of it goes back.
func (b *Budget) Limit(bytes int64) {
	b.limit.Store(bytes)
	b.settle()
}

// settle gives back what is beyond what is allowed. If borrow is under way, that does it.
func (b *Budget) settle() {
	for b.lent.Load() > b.allowed() && b.busy.CompareAndSwap(false, true) {
		b.mu.Lock()
		tables := slices.Clone(b.tables)
		b.mu.Unlock()
		for _, t := range tables {
			t.Drop()
		}
		if b.change(-b.lent.Load()) != nil {
			return
		}
	}
}

// Used is how many bytes the tables have.
func (b *Budget) Used() int64 { return b.used.Load() }

func (b *Budget) add(t dropper) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tables = append(b.tables, t)
}

func (b *Budget) remove(t dropper) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tables = slices.DeleteFunc(b.tables, func(o dropper) bool { return o == t })
}
