package whatif

import "math"

// table has the keys of a sample: those that live in one of the miniature caches at least.
// Columns, and not rows, take the least memory.
type table struct {
	hashes    []uint64
	deadlines deadlines // of the real record
	sizes     []uint32  // in bytes
	chains    []uint16  // next key under the same head; of unused keys: on the list of these
	lives     []uint8   // a bit for each size that has the key
	heads     []uint16  // hash → key that heads a chain; keys count from 1
	free      uint16
	used      int
	base      int64 // the time, in milliseconds, at which ticks begin
}

// Bits of lives beside those of the sizes.
const (
	held   = 1 << 7 // it is about to live somewhere
	missed = 1 << 5 // a read missed it
	dead   = 1 << 6 // it was removed, and waits in its lanes to come to their tails
)

// tableKeyBytes is what a key takes in a table, and laneKeyBytes what it takes for each size; a deadline,
// if keys have any, takes deadlineBytes in each of these.
const (
	tableKeyBytes = 8 + 4 + 2 + 1 + 2
	laneKeyBytes  = 2 + 2 + 1
	deadlineBytes = 4
)

func newTable(keys int, expires bool) *table {
	n := keys + 1
	t := &table{
		hashes: make([]uint64, n), deadlines: newDeadlines(n, expires), sizes: make([]uint32, n),
		chains: make([]uint16, n), lives: make([]uint8, n), heads: make([]uint16, keys),
		base: math.MinInt64,
	}
	for i := keys; i > 0; i-- {
		t.release(uint16(i))
	}
	t.used = 0
	return t
}

// room is how many keys there is room for.
func (t *table) room() int { return len(t.hashes) - 1 }

// ticks is a deadline in ticks, 0 for never.
func (t *table) ticks(deadline, now int64) uint32 {
	if t.base == math.MinInt64 {
		t.base = now
	}
	if deadline == 0 {
		return 0
	}
	return uint32(min(max((deadline-t.base)/tick+1, 1), math.MaxUint32))
}

// past reports whether a deadline in ticks has passed.
func (t *table) past(deadline uint32, now int64) bool {
	return deadline != 0 && (now-t.base)/tick >= int64(deadline)
}

func (t *table) head(hash uint64) *uint16 { return &t.heads[mix(hash)>>20%uint64(len(t.heads))] }

// mix is another hash of a key: the bits that chose the sample are alike in all of it.
func mix(hash uint64) uint64 {
	hash = (hash ^ hash>>30) * 0xBF58476D1CE4E5B9
	hash = (hash ^ hash>>27) * 0x94D049BB133111EB
	return hash ^ hash>>31
}

// find is the number of a key, 0 if it is in no cache.
func (t *table) find(hash uint64) uint16 {
	i := *t.head(hash)
	for i != 0 && t.hashes[i] != hash {
		i = t.chains[i]
	}
	return i
}

// add makes room for a key that is to live somewhere. It returns 0 if the table is full.
func (t *table) add(hash uint64) uint16 {
	i := t.free
	if i == 0 {
		return 0
	}
	t.free = t.chains[i]
	t.used++
	head := t.head(hash)
	t.hashes[i], t.chains[i], t.lives[i], t.sizes[i] = hash, *head, 0, 0
	t.deadlines.set(i, 0)
	*head = i
	return i
}

// settle takes out a key that lives nowhere any more.
func (t *table) settle(i uint16) {
	switch t.lives[i] &^ missed {
	case 0:
		t.unlink(i)
		t.release(i)
	case dead:
		t.release(i)
	}
}

// bury lets a key be found no more.
func (t *table) bury(i uint16) {
	t.unlink(i)
	t.lives[i] |= dead
	t.sizes[i] = 0
	t.settle(i)
}

func (t *table) unlink(i uint16) {
	at := t.head(t.hashes[i])
	for *at != i {
		at = &t.chains[*at]
	}
	*at = t.chains[i]
}

func (t *table) release(i uint16) {
	t.lives[i], t.chains[i] = 0, t.free
	t.free = i
	t.used--
}

// bytes is the memory that a table takes.
func (t *table) bytes() int {
	return len(t.hashes)*(tableKeyBytes-2) + 2*len(t.heads) + deadlineBytes*len(t.deadlines)
}
