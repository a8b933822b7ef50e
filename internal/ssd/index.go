package ssd

import (
	"math/bits"
	"sync"
	"sync/atomic"
)

// id is how this tier knows a key: 40 bits of its hash.
type id uint64

const idBits = 8 * idLen

func idOf(hash uint64) id { return id(hash >> (64 - idBits)) }

// location is where a record begins in the log file, in units; 0 is none.
type location uint64

// entry is one word of the index:
//
//	 63                        5+n-1         5  4  3     0
//	┌───────────────────────────┬─────────────┬──┬────────┐
//	│        fingerprint        │  location   │rd│ class  │
//	└───────────────────────────┴─────────────┴──┴────────┘
//
// The location has n bits, as many as the log needs; the fingerprint, the low
// bits of the id, has the others. Together with the shard's number, the id's
// high bits, they are all of an id for logs up to some GiB; the bits that larger
// ones have no room for are left out of ids (index.told). read tells that the
// record was read since it was written. The record has at most 128<<class bytes;
// the last classes are for longer ones, for the parts of a long value, and for its
// head. 0 is no entry, and no record lies at location 0.
type entry uint64

const (
	classBits     = 4
	readBit       = 1 << classBits
	locationShift = classBits + 1

	longClass = 1<<classBits - 3 // 128<<longClass bytes, or more
	partClass = 1<<classBits - 2
	headClass = 1<<classBits - 1

	// mostLocationBits leaves a fingerprint of 25 bits.
	mostLocationBits = 34
	maxShardBits     = 15
)

// layout is the number of a location's bits in an entry.
type layout struct{ locationBits uint8 }

func (l layout) fingerprintShift() uint { return locationShift + uint(l.locationBits) }

// fingerprintBits is at most as many as an id has: shorter ones leave the
// highest bits of an entry 0.
func (l layout) fingerprintBits() uint { return min(64-l.fingerprintShift(), idBits) }

// told are the bits of an id that tell one entry from another: the highest name
// the shard, the lowest are the fingerprint.
func (l layout) told(shardBits uint) id {
	return 1<<idBits - 1<<(idBits-shardBits) | 1<<l.fingerprintBits() - 1
}

func (l layout) fingerprint(e entry) uint64 { return uint64(e) >> (l.fingerprintShift() & 63) }
func (l layout) location(e entry) location {
	return location(e>>locationShift) & (1<<l.locationBits - 1)
}
func (l layout) fingerprintOf(x id) uint64 {
	return uint64(x) & (1<<l.fingerprintBits() - 1)
}

func (e entry) read() bool { return e&readBit != 0 }

func (e entry) class() int { return int(e & (1<<classBits - 1)) }

// mostBytes is the most bytes that the entry's record may have; false where that
// is not known, and it may have more.
func (e entry) mostBytes() (n int, bounded bool) {
	switch class := e.class(); class {
	case headClass, partClass:
		return usualHead, false
	default:
		return 128 << class, class < longClass
	}
}

func (l layout) newEntry(x id, loc location, bytes int) entry {
	return l.entryOf(x, loc, bytes, isWhole)
}

// entryOf is newEntry for a record of a kind.
func (l layout) entryOf(x id, loc location, bytes int, k kind) entry {
	return entry(l.fingerprintOf(x))<<l.fingerprintShift() | entry(loc)<<locationShift | entry(k.class(bytes))
}

// class is the class of a record of a kind and of so many bytes.
func (k kind) class(bytes int) int {
	switch k {
	case isPart:
		return partClass
	case isHead:
		return headClass
	}
	return classOf(bytes)
}

// classOf is the lowest class for records of so many bytes.
func classOf(bytes int) int {
	return min(bits.Len(uint(max(bytes, 1)-1)>>7), longClass)
}

// weight is about how many bytes the entry's record has, if it is neither a part nor a
// head: see log.weight.
func (e entry) weight() uint64 { return 96 << e.class() }

// weightOf is the weight of an entry for a record of so many bytes.
func weightOf(bytes int) uint64 { return entry(classOf(bytes)).weight() }

// index maps ids to locations: shards of open addressing, each sorted by
// fingerprint, so that a search ends early at a load of nine tenths, and growing
// in place, an eighth at a time.
//
// The process may be killed between any two instructions, and another goes on with
// the tables. So entries move one word after the other, each to its new place
// before its old one is overwritten: at worst an entry is there twice.
type index struct {
	layout
	*indexMemory
	shards    []shard
	sizes     []atomic.Uint32 // homes of each shard, close together for prefetch
	shardBits uint
	told      id           // layout.told of its shards
	allowed   atomic.Int64 // bytes that the tables may take
	used      atomic.Int64 // bytes that they take
	most      int64        // bytes that there are addresses for
	limit     atomic.Int64 // bytes that they may be allowed as things are: most, or less while RAM has no more to give
	refused   atomic.Bool  // an entry found no room
	hungry    func()       // told when the tables should be allowed more
}

// shard owns the ids with the same high bits. What happens to an id happens
// under its shard's lock.
type shard struct {
	layout
	mu    sync.Mutex
	slots []uint64 // the table, and slack for the last run of entries
	all   []uint64 // the memory that it can grow into
	head  *shardHead
	size  *atomic.Uint32 // homes, for prefetch
	homes int            // entries have their homes in slots[:homes]
	count int
	tight bool // an entry was put into the last slots of all
	_     [31]byte
}

const (
	shardSlack = 32 // slots beyond the homes
	leastHomes = 96
)

// leastTables is what the tables of so many shards take at least, in bytes.
func leastTables(shards int) int64 { return int64(shards) * 8 * (leastHomes + shardSlack) }

// newIndex makes an empty index in memory for it, or with adopt one of what is
// there: see attach.
func newIndex(shardBits uint, m *indexMemory, adopt bool) *index {
	x := &index{layout: layout{m.locBits}, indexMemory: m, shardBits: shardBits, shards: make([]shard, m.shards), most: int64(8 * m.stride * uint64(m.shards))}
	x.told = x.layout.told(shardBits)
	x.limit.Store(x.most)
	heads := m.shardHeads()
	x.sizes = make([]atomic.Uint32, len(x.shards))
	for i := range x.shards {
		s := &x.shards[i]
		s.layout, s.all, s.head, s.size = x.layout, m.table(i), &heads[i], &x.sizes[i]
		if adopt {
			s.homes = int(s.head.homes.Load())
		} else {
			s.reset()
		}
	}
	x.used.Store(leastTables(len(x.shards)))
	x.allowed.Store(x.used.Load())
	return x
}

// setHomes is called while entries have no homes, or all keep theirs.
func (s *shard) setHomes(n int) {
	s.homes = n
	s.head.homes.Store(uint32(n))
	s.size.Store(uint32(n))
	s.tight = false
}

// reset makes the table an empty one of the least size.
func (s *shard) reset() {
	s.head.moving.Store(1)
	clear(s.slots)
	s.setHomes(leastHomes)
	s.count = 0
	s.slots = s.all[:leastHomes+shardSlack]
	clear(s.slots)
	s.head.moving.Store(0)
}

// prefetch begins to load what looking an id up will touch. It is a hint, and
// takes no lock.
func (x *index) prefetch(n id) {
	i := uint64(n >> (idBits - x.shardBits))
	homes := int(x.sizes[i].Load())
	x.region.Prefetch(x.tableAt(int(i)) + 8*uint64(x.home(x.fingerprintOf(n), homes)))
}

// shardOf is the shard of an id.
func (x *index) shardOf(n id) *shard { return &x.shards[n>>(idBits-x.shardBits)] }

func (s *shard) home(fp uint64) int { return s.layout.home(fp, s.homes) }

// search finds the slot of an id, or the one that it would take.
func (s *shard) search(fp uint64) (at int, e entry, ok bool) {
	for at = s.home(fp); at < len(s.slots); at++ {
		e = entry(s.slots[at])
		if e == 0 {
			return at, 0, false
		}
		if got := s.fingerprint(e); got >= fp {
			return at, e, got == fp
		}
	}
	return at, 0, false
}

// find is the entry of an id.
func (s *shard) find(n id) (e entry, ok bool) {
	_, e, ok = s.search(s.fingerprintOf(n))
	return e, ok
}

// room reports whether put will find room for one more entry, growing the table
// if it has to.
func (x *index) room(s *shard) bool {
	for s.count+1 > s.homes-s.homes/8 || s.tight && s.slots[len(s.slots)-2] != 0 {
		if !x.grow(s) {
			x.refused.Store(true)
			return false
		}
	}
	return true
}

// put sets the entry of its fingerprint. The caller has asked for room.
func (s *shard) put(e entry) {
	at, _, ok := s.search(s.fingerprint(e))
	if ok {
		s.slots[at] = uint64(e)
		return
	}
	end := at
	for s.slots[end] != 0 {
		end++
	}
	if end >= len(s.slots)-2 {
		s.tight = true
	}
	for ; end > at; end-- { // not copy: see index
		s.slots[end] = s.slots[end-1]
	}
	s.slots[at] = uint64(e)
	s.count++
}

// removeAt closes the gap: what follows moves up, unless it is at home.
func (s *shard) removeAt(at int) {
	for ; at+1 < len(s.slots); at++ {
		next := entry(s.slots[at+1])
		if next == 0 || s.home(s.fingerprint(next)) > at {
			break
		}
		s.slots[at] = uint64(next)
	}
	s.slots[at] = 0
	s.count--
}

// each calls f for every entry, one shard's lock at a time. What f returns
// replaces the entry; 0 takes it out.
func (x *index) each(f func(n id, e entry) entry) {
	for i := range x.shards {
		s := &x.shards[i]
		high := id(i) << (idBits - x.shardBits)
		s.mu.Lock()
		s.update(func(e entry) entry { return f(high|id(s.fingerprint(e)), e) })
		s.mu.Unlock()
	}
}

// update replaces every entry by what f makes of it.
func (s *shard) update(f func(entry) entry) {
	for at := 0; at < len(s.slots); {
		e := entry(s.slots[at])
		if e == 0 {
			at++
			continue
		}
		switch e2 := f(e); e2 {
		case 0:
			s.removeAt(at) // another may have moved here
		default:
			s.slots[at] = uint64(e2)
			at++
		}
	}
}

// len is the number of entries.
func (x *index) len() (n int) {
	for i := range x.shards {
		s := &x.shards[i]
		s.mu.Lock()
		n += s.count
		s.mu.Unlock()
	}
	return n
}

// clear takes every entry out, and does then, with all shards locked: nothing
// comes in between.
func (x *index) clear(then func()) {
	for i := range x.shards {
		s := &x.shards[i]
		s.mu.Lock()
		defer s.mu.Unlock()
		x.used.Add(-8 * int64(s.homes-leastHomes))
		s.reset()
	}
	if then != nil {
		then()
	}
}

// alone calls f with all shards locked.
func (x *index) alone(f func()) {
	for i := range x.shards {
		s := &x.shards[i]
		s.mu.Lock()
		defer s.mu.Unlock()
	}
	f()
}
