package registry

import (
	"math/rand/v2"
	"sync/atomic"

	"github.com/firncache/firn/internal/offheap"
)

// Table has the clock, and a number of places that is fixed. All methods are safe for
// concurrent use; none takes a lock.
//
// # Never stale
//
// An invalidation raises the clock, and then stores what it got, by maximum, in the place of
// its tag. A value notes the clock before its source is read.
//
//	Invalidate:  c = ++clock ─── place = max(place, c) ─── returns
//	a value:     noted = clock ─── its source is read ─── stored ─── read: place ≤ noted?
//
// If the clock was noted before it was raised, noted is below c, and from the moment on at
// which Invalidate returns the place has c or more: no read finds the value. Otherwise the
// invalidation had begun before the source was read, and what it was called for had happened.
// A place only grows, so two tags of one place make values obsolete without need, and never
// the reverse.
//
// Expire is likewise, with a clock of its own in the place: what was noted before that is expired, not
// obsolete. It stores the moment first, and a reader reads it last, so no value is expired since
// an earlier call than the one that it sees.
//
// # Memory
//
// The table lies in memory that is given to it, which may outlive the process. A kill between
// the two stores of an invalidation, which has not returned then, leaves a clock that nobody
// has noted, or that values noted which were made after the invalidation began.
//
//	0       8       16     24      64            72        80        88       96
//	┌───────┬───────┬──────┬───────┬─────────────┬─────────┬─────────┬────────┬─ ─ ─
//	│ epoch │ clock │ base │ zeros │ invalidated │ cleared │ expired │ moment │ next place
//	└───────┴───────┴──────┴───────┴─────────────┴─────────┴─────────┴────────┴─ ─ ─
type Table struct {
	head   *head
	places []place
	mask   uint32
	seed   uint64
	epoch  uint64      // what head had when the table was made
	ended  atomic.Bool // the memory may be zeros by now
	own    []byte      // the memory, if Alloc made it
}

type head struct {
	epoch atomic.Uint64
	clock atomic.Uint64
	base  atomic.Uint64 // of the generations of namespaces that were not cleared in this epoch
}

type place struct {
	invalidated atomic.Uint64
	cleared     atomic.Uint64
	expired     atomic.Uint64
	moment      atomic.Int64 // of expired, in the store's time; 0: never
}

// New makes a table of memory of Bytes of some number of places, which is zeros, or was a
// table's. The seed is that of the cache's hashes.
func New(mem []byte, seed uint64) *Table {
	places := offheap.View[place](mem[headBytes:])
	t := &Table{head: &offheap.View[head](mem[:24])[0], places: places, mask: uint32(len(places) - 1), seed: seed}
	t.head.epoch.CompareAndSwap(0, draw())
	t.epoch = t.head.epoch.Load()
	return t
}

func draw() uint64 { return max(rand.Uint64(), 1) }

// Places is how many places there are.
func (t *Table) Places() int { return len(t.places) }

// End says that the memory may become zeros from now on: nothing holds any more.
func (t *Table) End() { t.ended.Store(true) }

// Clock is what a value notes before it is made.
func (t *Table) Clock() uint64 { return t.head.clock.Load() }

// hash is the part of an id whose low bits choose the place: the same in every cache, so
// which names share a place is no matter of chance.
func (t *Table) hash(id ID) uint32 { return uint32(id.Hash()) }

// at is the place of a hash.
func (t *Table) at(hash uint32) *place { return &t.places[hash&t.mask] }

// Invalidate makes what was noted until now obsolete, if it has this tag.
func (t *Table) Invalidate(id ID) { raise(&t.at(t.hash(id)).invalidated, t.head.clock.Add(1)) }

// Expire makes what was noted until now expired since a moment, now, if it has this tag. What was
// expired by an earlier call for grace, or longer, it makes obsolete: nothing that has left comes back.
func (t *Table) Expire(id ID, now, grace int64) {
	p, clock := t.at(t.hash(id)), t.head.clock.Add(1)
	if last := p.expired.Load(); last != 0 && p.moment.Load()+grace <= now {
		raise(&p.invalidated, last)
	}
	p.moment.Store(now)
	raise(&p.expired, clock)
}

// raise stores a clock unless there is a later one.
func raise(at *atomic.Uint64, clock uint64) {
	for last := at.Load(); last < clock && !at.CompareAndSwap(last, clock); last = at.Load() {
	}
}
