package ssd

import (
	"sync"
	"sync/atomic"

	"github.com/firncache/firn/internal/offheap"
	"github.com/firncache/firn/internal/ssd/files"
	"github.com/firncache/firn/internal/ssd/format"
)

// index maps ids to locations: shards of open addressing, each sorted by
// fingerprint, so that a search ends early at a load of nine tenths, and growing
// in place, an eighth at a time.
//
// The process may be killed between any two instructions, and another goes on with
// the tables. So entries move one word after the other, each to its new place
// before its old one is overwritten: at worst an entry is there twice.
type index struct {
	format.Layout
	*files.Memory
	shards     []shard
	capacities []atomic.Uint32 // of each shard, close together for prefetch
	shardBits  uint
	allowed    atomic.Int64 // bytes that the tables may take
	used       atomic.Int64 // bytes that they take
	maxBytes   int64        // bytes that there are addresses for
	limit      atomic.Int64 // bytes that they may be allowed now: maxBytes, or less while RAM has no more to give
	overflowed atomic.Bool  // an entry found no room
	needMemory func()       // called when the tables should be allowed more
}

// shard owns the ids with the same high bits. Every change of an id happens
// under its shard's lock.
type shard struct {
	format.Layout
	mu       sync.Mutex // after the lock of a RAM shard, before log.mu; several in rising order
	slots    []uint64   // the table, and slack for the last run of entries
	all      []uint64   // the memory that it can grow into
	region   *offheap.Region
	at       uint64 // of all, in region
	head     *format.ShardHead
	shared   *atomic.Uint32 // the capacity, for prefetch
	capacity int            // entries have their homes in slots[:capacity]
	count    int
	nearEnd  bool // an entry was put into the last slots of all
	_        [15]byte
}

const (
	shardSlack  = 32 // slots beyond the capacity
	minCapacity = 96
)

// tableBytes is what a table takes with so many homes of entries: whole pages, of which
// no two tables have one in common.
func tableBytes(capacity int) int64 {
	return (8*int64(capacity+shardSlack) + format.TablePage - 1) &^ (format.TablePage - 1)
}

// minTables is the least size of the tables of so many shards, in bytes.
func minTables(shards int) int64 { return int64(shards) * tableBytes(minCapacity) }

// newIndex makes an empty index in memory for it, or with adopt one of the entries
// that are there: see adoptShard.
func newIndex(shardBits uint, m *files.Memory, adopt bool) *index {
	x := &index{Layout: format.Layout{LocationBits: m.LocationBits, UnitShift: m.UnitShift}, Memory: m, shardBits: shardBits, shards: make([]shard, m.Shards), maxBytes: int64(8 * m.Stride * uint64(m.Shards))}
	x.limit.Store(x.maxBytes)
	heads := m.ShardHeads()
	x.capacities = make([]atomic.Uint32, len(x.shards))
	for i := range x.shards {
		s := &x.shards[i]
		s.Layout, s.all, s.head, s.shared = x.Layout, m.Table(i), &heads[i], &x.capacities[i]
		s.region, s.at = m.Region, m.TableAt(i)
		if adopt {
			s.capacity = int(s.head.Capacity.Load())
		} else {
			s.reset()
		}
	}
	x.used.Store(minTables(len(x.shards)))
	x.allowed.Store(x.used.Load())
	return x
}

// setCapacity is called while there are no entries, or all keep their homes.
func (s *shard) setCapacity(n int) {
	s.capacity = n
	s.head.Capacity.Store(uint32(n))
	s.shared.Store(uint32(n))
	s.nearEnd = false
}

// reset makes the table an empty one of the least size, and gives the pages back that it took
// beyond that.
func (s *shard) reset() {
	s.head.Moving.Store(1)
	if least, took := uint64(tableBytes(minCapacity)), uint64(min(tableBytes(s.capacity), 8*int64(len(s.all)))); took > least {
		_ = s.region.Decommit(s.at+least, took-least)
	}
	s.setCapacity(minCapacity)
	s.count = 0
	s.slots = s.all[:minCapacity+shardSlack]
	clear(s.slots)
	s.head.Moving.Store(0)
}

// prefetch begins to load the lines that looking an id up will touch. It is a hint, and
// takes no lock.
func (x *index) prefetch(n format.ID) {
	i := uint64(n >> (format.IDBits - x.shardBits))
	homes := int(x.capacities[i].Load())
	x.Region.Prefetch(x.TableAt(int(i)) + 8*uint64(x.Home(x.FingerprintOf(n), homes)))
}

// shardOf is the shard of an id.
func (x *index) shardOf(n format.ID) *shard { return &x.shards[n>>(format.IDBits-x.shardBits)] }

func (s *shard) home(fp uint64) int { return s.Layout.Home(fp, s.capacity) }

// search finds the slot of an id, or the one that it would take.
func (s *shard) search(fp uint64) (at int, e format.Entry, ok bool) {
	for at = s.home(fp); at < len(s.slots); at++ {
		e = format.Entry(s.slots[at])
		if e == 0 {
			return at, 0, false
		}
		if got := s.Fingerprint(e); got >= fp {
			return at, e, got == fp
		}
	}
	return at, 0, false
}

// find is the entry of an id.
func (s *shard) find(n format.ID) (e format.Entry, ok bool) {
	_, e, ok = s.search(s.FingerprintOf(n))
	return e, ok
}

// put sets the entry of its fingerprint. The caller has asked for room.
func (s *shard) put(e format.Entry) {
	at, _, ok := s.search(s.Fingerprint(e))
	if ok {
		s.slots[at] = uint64(e)
		return
	}
	end := at
	for s.slots[end] != 0 {
		end++
	}
	if end >= len(s.slots)-2 {
		s.nearEnd = true
	}
	for ; end > at; end-- { // not copy: see index
		s.slots[end] = s.slots[end-1]
	}
	s.slots[at] = uint64(e)
	s.count++
}

// removeAt closes the gap: later entries move up, unless they are at home.
func (s *shard) removeAt(at int) {
	for ; at+1 < len(s.slots); at++ {
		next := format.Entry(s.slots[at+1])
		if next == 0 || s.home(s.Fingerprint(next)) > at {
			break
		}
		s.slots[at] = uint64(next)
	}
	s.slots[at] = 0
	s.count--
}

// each calls f for every entry, one shard's lock at a time. The result of f
// replaces the entry; 0 takes it out.
func (x *index) each(f func(n format.ID, e format.Entry) format.Entry) {
	for i := range x.shards {
		s := &x.shards[i]
		high := format.ID(i) << (format.IDBits - x.shardBits)
		s.mu.Lock()
		s.update(func(e format.Entry) format.Entry { return f(high|format.ID(s.Fingerprint(e)), e) })
		s.mu.Unlock()
	}
}

// update replaces every entry by the result of f.
func (s *shard) update(f func(format.Entry) format.Entry) {
	for at := 0; at < len(s.slots); {
		e := format.Entry(s.slots[at])
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
		x.used.Add(tableBytes(minCapacity) - tableBytes(s.capacity))
		s.reset()
	}
	if then != nil {
		then()
	}
}

// withAllLocked calls f with all shards locked.
func (x *index) withAllLocked(f func()) {
	for i := range x.shards {
		s := &x.shards[i]
		s.mu.Lock()
		defer s.mu.Unlock()
	}
	f()
}

// tableBytes is the size of the tables.
func (x *index) tableBytes() (bytes int64) {
	for i := range x.shards {
		bytes += tableBytes(x.shards[i].capacity)
	}
	return bytes
}

// adopt makes a table that was found whole, with so many entries, the shard's.
func (s *shard) adopt(count int) {
	s.slots = s.all[:s.capacity+shardSlack]
	s.shared.Store(uint32(s.capacity))
	s.count, s.nearEnd = count, true
}

// pack appends the entries of a shard, in order.
func (s *shard) pack(entries []uint64) []uint64 {
	s.mu.Lock() // reads may yet be under way, and count
	defer s.mu.Unlock()
	for _, e := range s.slots {
		if e != 0 {
			entries = append(entries, e)
		}
	}
	return entries
}
