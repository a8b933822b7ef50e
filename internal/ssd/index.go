package ssd

import (
	"fmt"
	"math/bits"
	"sync"
	"sync/atomic"

	"github.com/firncache/firn/internal/offheap"
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
// record was read since it was written. The record has at most 128<<class bytes.
// 0 is no entry; an entry whose location is 0 is a grave: the id is known to be
// dead, which recovery has to remember.
type entry uint64

const (
	classBits     = 4
	readBit       = 1 << classBits
	locationShift = classBits + 1

	// mostLocationBits leaves a fingerprint of 25 bits.
	mostLocationBits = 34
	maxShardBits     = 15
)

// graveMark makes a grave of fingerprint 0 differ from no entry.
const graveMark = readBit

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
func (l layout) grave(e entry) bool { return l.location(e) == 0 }
func (l layout) fingerprintOf(x id) uint64 {
	return uint64(x) & (1<<l.fingerprintBits() - 1)
}

func (e entry) read() bool { return e&readBit != 0 }

// mostBytes is the most bytes that the entry's record may have; false for the
// largest class, which has no bound.
func (e entry) mostBytes() (n int, bounded bool) {
	class := int(e & (1<<classBits - 1))
	return 128 << class, class < 1<<classBits-1
}

func (l layout) newEntry(x id, loc location, bytes int) entry {
	class := 0
	for 128<<class < bytes && class < 1<<classBits-1 {
		class++
	}
	return entry(l.fingerprintOf(x))<<l.fingerprintShift() | entry(loc)<<locationShift | entry(class)
}

func (l layout) newGrave(x id) entry {
	return entry(l.fingerprintOf(x))<<l.fingerprintShift() | graveMark
}

// index maps ids to locations: shards of open addressing, each sorted by
// fingerprint, so that a search ends early at a load of nine tenths, and growing
// in place, an eighth at a time.
type index struct {
	layout
	region    *offheap.Region
	shards    []shard
	shardBits uint
	told      id           // layout.told of its shards
	allowed   atomic.Int64 // bytes that the tables may take
	used      atomic.Int64 // bytes that they take
	stride    uint64       // slots that a shard's table can grow to
	most      atomic.Int64 // bytes that they may ever take
	refused   atomic.Bool  // an entry found no room
	hungry    func()       // told when the tables should be allowed more
}

// shard owns the ids with the same high bits. What happens to an id happens
// under its shard's lock.
type shard struct {
	layout
	mu      sync.Mutex
	slots   []uint64     // the table, and slack for the last run of entries
	all     []uint64     // the memory that it can grow into
	size    atomic.Int64 // homes, for prefetch
	homes   int          // entries have their homes in slots[:homes]
	count   int
	unknown uint64       // segments up to this serial may have records that the table has not: recovery found no room; 0: none
	unnoted []note       // what the journal has to say before a write of these ids is acknowledged
	notes   atomic.Int32 // how many these are
	_       [16]byte
}

const (
	shardSlack = 32 // slots beyond the homes
	leastHomes = 96
)

// newIndex reserves the index of a tier: tables of at most most bytes in
// 1<<shardBits shards.
func newIndex(shardBits, locationBits uint, most int64) (*index, error) {
	x := &index{layout: layout{uint8(locationBits)}, shardBits: shardBits, shards: make([]shard, 1<<shardBits)}
	x.told = x.layout.told(shardBits)
	x.most.Store(most)
	each := most >> shardBits / 8
	if least := int64(leastHomes + shardSlack); each < least {
		return nil, fmt.Errorf("ssd: index of %d bytes: want at least %d for %d shards", most, 8*least<<shardBits, len(x.shards))
	}
	var err error
	if x.region, err = offheap.Reserve(uint64(8*each) << shardBits); err != nil {
		return nil, err
	}
	x.stride = uint64(each)
	for i := range x.shards {
		s := &x.shards[i]
		s.layout = x.layout
		s.all = offheap.View[uint64](x.region.Bytes(uint64(i)*uint64(8*each), int(8*each)))
		s.reset()
	}
	x.used.Store(int64(len(x.shards)) * 8 * (leastHomes + shardSlack))
	x.allowed.Store(x.used.Load())
	return x, nil
}

func (s *shard) setHomes(n int) {
	s.homes = n
	s.size.Store(int64(n))
}

func (s *shard) reset() {
	clear(s.slots)
	s.setHomes(leastHomes)
	s.count, s.unknown = 0, 0
	s.unnoted = s.unnoted[:0]
	s.notes.Store(0)
	s.slots = s.all[:leastHomes+shardSlack]
	clear(s.slots)
}

// prefetch begins to load what looking an id up will touch. It is a hint, and
// takes no lock.
func (x *index) prefetch(n id) {
	i := uint64(n >> (idBits - x.shardBits))
	homes := int(x.shards[i].size.Load())
	x.region.Prefetch(8 * (i*x.stride + uint64(x.home(x.fingerprintOf(n), homes))))
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

// find is the entry of an id, graves included.
func (s *shard) find(n id) (e entry, ok bool) {
	_, e, ok = s.search(s.fingerprintOf(n))
	return e, ok
}

// room reports whether put will find room for one more entry, growing the table
// if it has to.
func (x *index) room(s *shard) bool {
	for s.count+1 > s.homes-s.homes/8 || s.slots[len(s.slots)-2] != 0 {
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
	copy(s.slots[at+1:end+1], s.slots[at:end])
	s.slots[at] = uint64(e)
	s.count++
}

// remove takes the entry of an id out, if there is one.
func (s *shard) remove(n id) {
	if at, _, ok := s.search(s.fingerprintOf(n)); ok {
		s.removeAt(at)
	}
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

// grow makes a table an eighth larger, or as much as it takes for its last run
// of entries to fit, if the memory is allowed; if not, a sixty-fourth.
func (x *index) grow(s *shard) bool { return x.growBy(s, 8) || x.growBy(s, 64) }

func (x *index) growBy(s *shard, part int) bool {
	homes := s.homes
	for fits := false; !fits; fits = s.fits(homes) {
		if homes == len(s.all)-shardSlack {
			return false
		}
		homes = min(homes+max(homes/part, 16), len(s.all)-shardSlack)
	}
	more := int64(8 * (homes - s.homes))
	if x.used.Add(more) > x.allowed.Load() {
		x.used.Add(-more)
		return false
	}
	s.spread(homes)
	if x.wantsMemory() > 0 && x.hungry != nil {
		x.hungry()
	}
	return true
}

// home is where a fingerprint's entry would like to be in a table of so many
// homes.
func (l layout) home(fp uint64, homes int) int {
	hi, _ := bits.Mul64(fp<<((64-l.fingerprintBits())&63), uint64(homes))
	return int(hi)
}

// fits reports whether the entries have places in a table of so many homes.
func (s *shard) fits(homes int) bool {
	next := 0
	for _, w := range s.slots {
		if w != 0 {
			next = max(s.layout.home(s.fingerprint(entry(w)), homes), next) + 1
		}
	}
	return next < homes+shardSlack-1
}

// spread gives every entry its place in a larger table, in which they fit. All
// of them go to its end, and from there, in order, to their places: none of
// these lies behind what has not been read yet.
func (s *shard) spread(homes int) {
	old := s.slots
	s.setHomes(homes)
	s.slots = s.all[:homes+shardSlack]
	clear(s.slots[len(old):])
	to := len(s.slots)
	for from := len(old) - 1; from >= 0; from-- {
		if w := old[from]; w != 0 {
			to--
			s.slots[to] = w
		}
	}
	clear(s.slots[:to])
	next := 0
	for from := to; from < len(s.slots); from++ {
		w := s.slots[from]
		s.slots[from] = 0
		at := max(s.layout.home(s.fingerprint(entry(w)), homes), next)
		s.slots[at] = w
		next = at + 1
	}
}

// wantsMemory is how much more the tables should be allowed: some, once they have
// taken seven eighths of what they are, and may have more.
func (x *index) wantsMemory() (more int64) {
	allowed := x.allowed.Load()
	if x.used.Load() < allowed-allowed/8 {
		return 0
	}
	return min(max(allowed/8, x.most.Load()/32), x.most.Load()-allowed)
}

// short reports whether the tables have little left of what they are allowed, and
// may have more.
func (x *index) short() bool {
	allowed := x.allowed.Load()
	return x.used.Load() > allowed-allowed/16 && allowed < x.most.Load()
}

// full reports whether, since it was last asked, an entry found no room though
// the tables have all the memory that they may take.
func (x *index) full() bool { return x.allowed.Load() >= x.most.Load() && x.refused.Swap(false) }

// presize makes room for n entries in all, as far as memory is allowed, so that
// inserting them does not grow the tables step by step.
func (x *index) presize(n int) {
	homes := n / len(x.shards) * 5 / 4
	for i := range x.shards {
		s := &x.shards[i]
		s.mu.Lock()
		if more := homes - s.homes; more > 0 && homes+shardSlack <= len(s.all) {
			if x.used.Add(int64(8*more)) <= x.allowed.Load() && s.fits(homes) {
				s.spread(homes)
			} else {
				x.used.Add(-int64(8 * more))
			}
		}
		s.mu.Unlock()
	}
}

// load fills an empty shard with entries, which are sorted. It reports false if
// they do not fit, or are not.
func (x *index) load(s *shard, entries []uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	homes, ok := s.copyIn(entries)
	more := int64(8 * (homes - leastHomes))
	if ok && x.used.Add(more) > x.allowed.Load() {
		x.used.Add(-more)
		ok = false
	}
	if !ok {
		s.reset()
		return false
	}
	s.count = len(entries)
	s.spread(homes)
	return true
}

// copyIn makes entries all that the table has, for spread to give them places
// among so many homes: as many as leave some room, or as there can be.
func (s *shard) copyIn(entries []uint64) (homes int, ok bool) {
	most := len(s.all) - shardSlack
	if len(entries) > most {
		return 0, false
	}
	for i := 1; i < len(entries); i++ {
		if s.fingerprint(entry(entries[i-1])) >= s.fingerprint(entry(entries[i])) {
			return 0, false
		}
	}
	copy(s.all, entries)
	s.slots = s.all[:len(entries)]
	homes = min(max(len(entries)*5/4, leastHomes), most)
	for !s.fits(homes) {
		if homes == most {
			return 0, false
		}
		homes = min(homes+homes/8+1, most)
	}
	return homes, true
}

// lacks reports whether the log may have records that the table has not, where
// segments below floor are dead. The caller holds mu.
func (s *shard) lacks(floor uint64) bool { return s.unknown != 0 && s.unknown >= floor }

// complete reports whether the index has all that the log has, of which segments
// below floor are dead.
func (x *index) complete(floor uint64) bool {
	for i := range x.shards {
		s := &x.shards[i]
		s.mu.Lock()
		lacks := s.lacks(floor)
		s.mu.Unlock()
		if lacks {
			return false
		}
	}
	return true
}

// unnoted are the notes that have not been written yet.
func (x *index) unnoted() (notes []note) {
	for i := range x.shards {
		s := &x.shards[i]
		s.mu.Lock()
		notes = append(notes, s.unnoted...)
		s.mu.Unlock()
	}
	return notes
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
