package index

import (
	"sync"
	"sync/atomic"

	"github.com/firncache/firn/internal/offheap"
	"github.com/firncache/firn/internal/ssd/files"
	"github.com/firncache/firn/internal/ssd/format"
)

// Index maps ids to locations: shards of open addressing, each sorted by
// fingerprint, so that a search ends early at a load of nine tenths, and growing
// in place, an eighth at a time.
//
// The process may be killed between any two instructions, and another goes on with
// the tables. So entries move one word after the other, each to its new place
// before its old one is overwritten: at worst an entry is there twice.
type Index struct {
	format.Layout
	*files.Memory
	Shards     []Shard
	capacities []atomic.Uint32 // of each shard, close together for prefetch
	ShardBits  uint
	Allowed    atomic.Int64 // bytes that the tables may take
	Used       atomic.Int64 // bytes that they take
	Most       int64        // bytes that there are addresses for
	Limit      atomic.Int64 // bytes that they may be allowed now: Most, or less while RAM has no more to give
	overflowed atomic.Bool  // an entry found no room
	NeedMemory func()       // called when the tables should be allowed more
}

// Shard owns the ids with the same high bits. Every change of an id happens
// under its shard's lock.
type Shard struct {
	format.Layout
	Mu       sync.Mutex // after the lock of a RAM shard, before Log.Mu; several in rising order
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
	MinCapacity = 96
)

// tableBytes is what a table takes with so many homes of entries: whole pages, of which
// no two tables have one in common.
func tableBytes(capacity int) int64 {
	return (8*int64(capacity+shardSlack) + format.TablePage - 1) &^ (format.TablePage - 1)
}

// MinBytes is the least size of the tables of so many shards, in bytes.
func MinBytes(shards int) int64 { return int64(shards) * tableBytes(MinCapacity) }

// New makes an empty index in memory for it, or with adopt one of the entries
// that are there: see adoptShard.
func New(shardBits uint, m *files.Memory, adopt bool) *Index {
	x := &Index{Layout: format.Layout{LocationBits: m.LocationBits, UnitShift: m.UnitShift}, Memory: m, ShardBits: shardBits, Shards: make([]Shard, m.Shards), Most: int64(8 * m.Stride * uint64(m.Shards))}
	x.Limit.Store(x.Most)
	heads := m.ShardHeads()
	x.capacities = make([]atomic.Uint32, len(x.Shards))
	for i := range x.Shards {
		s := &x.Shards[i]
		s.Layout, s.all, s.head, s.shared = x.Layout, m.Table(i), &heads[i], &x.capacities[i]
		s.region, s.at = m.Region, m.TableAt(i)
		if adopt {
			s.capacity = int(s.head.Capacity.Load())
		} else {
			s.Reset()
		}
	}
	x.Used.Store(MinBytes(len(x.Shards)))
	x.Allowed.Store(x.Used.Load())
	return x
}

// setCapacity is called while there are no entries, or all keep their homes.
func (s *Shard) setCapacity(n int) {
	s.capacity = n
	s.head.Capacity.Store(uint32(n))
	s.shared.Store(uint32(n))
	s.nearEnd = false
}

// Reset makes the table an empty one of the least size, and gives the pages back that it took
// beyond that.
func (s *Shard) Reset() {
	s.head.Moving.Store(1)
	if least, took := uint64(tableBytes(MinCapacity)), uint64(min(tableBytes(s.capacity), 8*int64(len(s.all)))); took > least {
		_ = s.region.Decommit(s.at+least, took-least)
	}
	s.setCapacity(MinCapacity)
	s.count = 0
	s.slots = s.all[:MinCapacity+shardSlack]
	clear(s.slots)
	s.head.Moving.Store(0)
}

// Prefetch begins to load the lines that looking an id up will touch. It is a hint, and
// takes no lock.
func (x *Index) Prefetch(n format.ID) {
	i := uint64(n >> (format.IDBits - x.ShardBits))
	homes := int(x.capacities[i].Load())
	x.Region.Prefetch(x.TableAt(int(i)) + 8*uint64(x.Home(x.FingerprintOf(n), homes)))
}

// ShardOf is the shard of an id.
func (x *Index) ShardOf(n format.ID) *Shard { return &x.Shards[n>>(format.IDBits-x.ShardBits)] }

func (s *Shard) home(fp uint64) int { return s.Layout.Home(fp, s.capacity) }

// Search finds the slot of an id, or the one that it would take.
func (s *Shard) Search(fp uint64) (at int, e format.Entry, ok bool) {
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

// Find is the entry of an id.
func (s *Shard) Find(n format.ID) (e format.Entry, ok bool) {
	_, e, ok = s.Search(s.FingerprintOf(n))
	return e, ok
}

// Put sets the entry of its fingerprint. The caller has called ReserveSlot.
func (s *Shard) Put(e format.Entry) {
	at, _, ok := s.Search(s.Fingerprint(e))
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

// Set replaces the entry in a slot by another of the same id.
func (s *Shard) Set(at int, e format.Entry) { s.slots[at] = uint64(e) }

// RemoveAt closes the gap: later entries move up, unless they are at home.
func (s *Shard) RemoveAt(at int) {
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

// Each calls f for every entry, one shard's lock at a time. The result of f
// replaces the entry; 0 takes it out.
func (x *Index) Each(f func(n format.ID, e format.Entry) format.Entry) {
	for i := range x.Shards {
		s := &x.Shards[i]
		high := format.ID(i) << (format.IDBits - x.ShardBits)
		s.Mu.Lock()
		s.update(func(e format.Entry) format.Entry { return f(high|format.ID(s.Fingerprint(e)), e) })
		s.Mu.Unlock()
	}
}

// update replaces every entry by the result of f.
func (s *Shard) update(f func(format.Entry) format.Entry) {
	for at := 0; at < len(s.slots); {
		e := format.Entry(s.slots[at])
		if e == 0 {
			at++
			continue
		}
		switch e2 := f(e); e2 {
		case 0:
			s.RemoveAt(at) // another may have moved here
		default:
			s.slots[at] = uint64(e2)
			at++
		}
	}
}

// Len is the number of entries.
func (x *Index) Len() (n int) {
	for i := range x.Shards {
		s := &x.Shards[i]
		s.Mu.Lock()
		n += s.count
		s.Mu.Unlock()
	}
	return n
}

// Clear takes every entry out, and does then, with all shards locked: nothing
// comes in between.
func (x *Index) Clear(then func()) {
	for i := range x.Shards {
		s := &x.Shards[i]
		s.Mu.Lock()
		defer s.Mu.Unlock()
		x.Used.Add(tableBytes(MinCapacity) - tableBytes(s.capacity))
		s.Reset()
	}
	if then != nil {
		then()
	}
}

// WithAllLocked calls f with all shards locked.
func (x *Index) WithAllLocked(f func()) {
	for i := range x.Shards {
		s := &x.Shards[i]
		s.Mu.Lock()
		defer s.Mu.Unlock()
	}
	f()
}

// TableBytes is the size of the tables.
func (x *Index) TableBytes() (bytes int64) {
	for i := range x.Shards {
		bytes += tableBytes(x.Shards[i].capacity)
	}
	return bytes
}

// Adopt makes a table that was found whole, with so many entries, the shard's.
func (s *Shard) Adopt(count int) {
	s.slots = s.all[:s.capacity+shardSlack]
	s.shared.Store(uint32(s.capacity))
	s.count, s.nearEnd = count, true
}

// Pack appends the entries of a shard, in order.
func (s *Shard) Pack(entries []uint64) []uint64 {
	s.Mu.Lock() // reads may yet be under way, and count
	defer s.Mu.Unlock()
	for _, e := range s.slots {
		if e != 0 {
			entries = append(entries, e)
		}
	}
	return entries
}
