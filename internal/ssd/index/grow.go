package index

import "github.com/firncache/firn/internal/ssd/format"

// The tables of the index grow as entries come, and take memory that RAM lends.

// ReserveSlot reports whether put will find room for one more entry, growing the table
// if it has to.
func (x *Index) ReserveSlot(s *Shard) bool {
	for s.count+1 > MaxEntries(s.capacity) || s.nearEnd && s.slots[len(s.slots)-2] != 0 {
		if !x.grow(s) {
			x.overflowed.Store(true)
			return false
		}
	}
	return true
}

// MostCapacity is that of the largest table in so many words of memory.
func MostCapacity(words int64) int { return int(words) - shardSlack }

// BytesFor is the size of a table that has grown to hold so many entries.
func BytesFor(count, most int) int64 {
	capacity := MinCapacity
	for count > MaxEntries(capacity) && capacity < most {
		capacity = nextCapacity(capacity, 8, most)
	}
	return tableBytes(capacity)
}

// MaxEntries is how many entries a table has before it grows.
func MaxEntries(capacity int) int { return capacity - capacity/8 }

// nextCapacity is that of a table that has grown by a part of it, up to most.
func nextCapacity(capacity, part, most int) int { return min(capacity+max(capacity/part, 16), most) }

// grow makes a table an eighth larger, or as much as it takes for its last run
// of entries to fit, if the memory is allowed; if not, a sixty-fourth.
func (x *Index) grow(s *Shard) bool { return x.growBy(s, 8) || x.growBy(s, 64) }

func (x *Index) growBy(s *Shard, part int) bool {
	capacity := s.capacity
	for fits := false; !fits; fits = s.fits(capacity) {
		if capacity == len(s.all)-shardSlack {
			return false
		}
		capacity = nextCapacity(capacity, part, len(s.all)-shardSlack)
	}
	more := tableBytes(capacity) - tableBytes(s.capacity)
	if x.Used.Add(more) > x.Allowed.Load() {
		x.Used.Add(-more)
		return false
	}
	s.spread(capacity)
	if x.WantsMemory() > 0 && x.NeedMemory != nil {
		x.NeedMemory()
	}
	return true
}

// fits reports whether the entries have places in a table of such a capacity.
func (s *Shard) fits(capacity int) bool {
	next := 0
	for _, w := range s.slots {
		if w != 0 {
			next = max(s.Layout.Home(s.Fingerprint(format.Entry(w)), capacity), next) + 1
		}
	}
	return next < capacity+shardSlack-1
}

// spread gives every entry its place in a larger table, in which they fit. All
// of them go to its end, and from there, in order, to their places: none of
// these lies behind entries that have not been read yet. A process that dies meanwhile
// leaves a table of which nothing is believed.
func (s *Shard) spread(capacity int) {
	old := s.slots
	s.head.Moving.Store(1)
	s.setCapacity(capacity)
	s.slots = s.all[:capacity+shardSlack]
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
		at := max(s.Layout.Home(s.Fingerprint(format.Entry(w)), capacity), next)
		s.slots[at] = w
		next = at + 1
	}
	s.head.Moving.Store(0)
}

// WantsMemory is how much more the tables should be allowed: some, once they have
// taken seven eighths of their size, and may have more.
func (x *Index) WantsMemory() (more int64) {
	allowed := x.Allowed.Load()
	if x.Used.Load() < allowed-allowed/8 {
		return 0
	}
	return max(0, min(max(allowed/8, x.Most/32), x.Limit.Load()-allowed))
}

// LowOnMemory reports whether the tables have little left of their allowance, and
// may have more.
func (x *Index) LowOnMemory() bool {
	allowed := x.Allowed.Load()
	return x.Used.Load() > allowed-allowed/16 && allowed < x.Limit.Load()
}

// NearLimit reports whether the tables have little left of all that they may take.
func (x *Index) NearLimit() bool {
	allowed := x.Allowed.Load()
	return allowed >= x.Limit.Load() && x.Used.Load() > allowed-allowed/16
}

// AllowedFor is how much an index is allowed, of most, whose tables have grown to so many
// bytes.
func AllowedFor(tables, most int64, shards int) int64 {
	x := Index{Most: most}
	x.Limit.Store(most)
	allowed := MinBytes(shards)
	for x.Used.Store(tables); ; allowed += x.WantsMemory() {
		x.Allowed.Store(allowed)
		if x.WantsMemory() <= 0 {
			return allowed
		}
	}
}

// TakeOverflowed reports whether, since its last call, an entry found no room though
// the tables have all the memory that they may take.
func (x *Index) TakeOverflowed() bool {
	return x.Allowed.Load() >= x.Limit.Load() && x.overflowed.Swap(false)
}

// Fill fills an empty shard with entries, which ascend. It reports false if they do
// not fit.
func (x *Index) Fill(s *Shard, entries []uint64) bool {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	capacity, ok := s.copyIn(entries)
	more := tableBytes(capacity) - tableBytes(MinCapacity)
	if ok && x.Used.Add(more) > x.Allowed.Load() {
		x.Used.Add(-more)
		ok = false
	}
	if !ok {
		s.Reset()
		return false
	}
	s.count = len(entries)
	s.spread(capacity)
	return true
}

// copyIn makes entries all that the table has, for spread to give them places
// in a table of such a capacity: as many as leave some room, or as there can be.
func (s *Shard) copyIn(entries []uint64) (capacity int, ok bool) {
	most := len(s.all) - shardSlack
	if len(entries) > most {
		return 0, false
	}
	copy(s.all, entries)
	s.slots = s.all[:len(entries)]
	capacity = min(max(len(entries)*5/4, MinCapacity), most)
	for !s.fits(capacity) {
		if capacity == most {
			return 0, false
		}
		capacity = min(capacity+capacity/8+1, most)
	}
	return capacity, true
}
