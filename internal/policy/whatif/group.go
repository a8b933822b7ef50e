package whatif

import (
	"math"
	"reflect"

	"github.com/firncache/firn/internal/policy"
)

// group is some sizes on one sample of the keys.
type group struct {
	table       *table
	sizes       []size
	control     *size // the present one
	rate        rate
	memory      int     // in bytes, that it may take
	bytes       int64   // that the cache has for records
	weight      float64 // what a request of the sample stands for
	stored      int     // records, up to firstRecords
	storedBytes int64
	now         int64
	swept       int            // keys of the table
	chosen      policy.Setting // of the cache itself

	window int              // the place of the one that is counted
	events [windows]float64 // requests of the sample, each once

	sampled [parts]float64 // misses of the cache itself, of the sample's keys
	real    float64        // and of all
}

// newGroup makes sizes of so many times the present one, in about so many bytes.
func newGroup(factors []float64, bytes int, expires bool) *group {
	largest, sum := factors[len(factors)-1], 0.0
	for _, f := range factors {
		sum += f
	}
	tunerKeys := tunerKeysIn(float64(bytes) / tunerShare / float64(len(factors)*tuners))
	perKey := float64(tableKeyBytes+len(factors)*laneKeyBytes) + ghostsPerEntry*policy.GhostBytes*sum/largest
	if expires {
		perKey += float64((1 + len(factors)) * deadlineBytes)
	}
	n := int((float64(bytes)/rounding - fixedBytes(len(factors), tunerKeys)) / perKey)
	g := newGroupOf(factors, min(n, math.MaxUint16-1), tunerKeys, expires)
	g.memory = bytes
	return g
}

func (g *group) factors() (all []float64) {
	for n := range g.sizes {
		all = append(all, g.sizes[n].factor)
	}
	return all
}

// fixedBytes is the memory that a group of so many sizes takes without keys in its table.
func fixedBytes(sizes, tunerKeys int) float64 {
	n := groupBytes + sizes*sizeBytes
	if tunerKeys > 0 {
		n += sizes * tuners * int(tunerBytes(policy.NewTunerOfKeys(tunerKeys)))
	}
	return float64(n)
}

// tunerBytes is the memory that a tuner takes.
func tunerBytes(t *policy.Tuner) int64 { return t.FixedBytes() + t.Bytes() }

// What is there once.
var (
	groupBytes = bytesOf[group]() + bytesOf[table]()
	sizeBytes  = bytesOf[size]() + bytesOf[columns]()
)

func bytesOf[T any]() int { return int(reflect.TypeFor[T]().Size()) }

// rounding is how many times the requested memory is taken: an allocator has some sizes.
const rounding = 1.07

// newGroupOf makes sizes in a table of so many keys, which may have deadlines or not.
func newGroupOf(factors []float64, n, tunerKeys int, expires bool) *group {
	largest := factors[len(factors)-1]
	g := &group{table: newTable(n, expires), rate: newRate(1), weight: 1, chosen: untuned.Setting(), sizes: make([]size, len(factors))}
	for i, f := range factors {
		g.sizes[i].init(g.table, &g.chosen, 1<<i, f, f/largest, tunerKeys)
		if f == 1 {
			g.control = &g.sizes[i]
		}
	}
	return g
}

const (
	ghostsPerEntry = 3 // as in package policy
	tunerShare     = 3 // 1/tunerShare of the memory is for tuners
	firstRecords   = 64
	shrink         = 0.85 // is the sample's rate multiplied by when the table is full
)

// tunerKeysIn is how many keys the shadows of a tuner hold in so many bytes: with less than a few
// there is no tuner.
func tunerKeysIn(bytes float64) int {
	n := min(int(bytes)/policy.TunerKeyBytes, mostTunerKeys)
	if n < leastTunerKeys {
		return 0
	}
	return n
}

const (
	leastTunerKeys = 32
	mostTunerKeys  = 512
)

// bytesTaken is the memory that a group takes.
func (g *group) bytesTaken() int {
	n := groupBytes + g.table.bytes()
	for z := range g.sizes {
		n += g.sizes[z].bytesTaken()
	}
	return int(float64(n) * rounding)
}

// event is a request for a key of the sample.
type event struct {
	hash     uint64
	piece    int
	part     int
	size     uint32
	deadline int64
}

func newEvent(hash uint64, size uint32, deadline int64) event {
	part := partOf(mix(hash))
	return event{hash, part % pieces, part, size, deadline}
}

// read is a request for a key. With found, the cache had it, of a size; otherwise nothing is
// known of it.
func (g *group) read(e event, found bool) {
	i := g.table.find(e.hash)
	switch {
	case !found:
		g.sampled[e.part] += g.weight
		e.size = g.table.sizes[i]
		g.table.lives[i] |= missed
	case i != 0:
		deadline := g.table.ticks(e.deadline, g.now)
		if deadline != g.table.deadlines.of(i) { // it was moved, and not by a load
			g.moveDeadline(i, e, deadline, false)
		}
		g.update(i, e, deadline)
	}
	g.events[g.window]++
	lacking := false
	for n := range g.sizes {
		z := &g.sizes[n]
		has := z.pieces[e.piece].has(i, g.now)
		z.tallies[g.window].read(e.part, has, g.weight, e.size)
		z.events++
		if has {
			z.pieces[e.piece].read(i)
		} else {
			lacking = true
		}
	}
	if found && lacking { // a smaller cache would have loaded it
		g.fill(e)
	}
}

// store is a write. One after a read that missed is what a cache that had the key would not have done.
func (g *group) store(e event) {
	g.firstRates(e)
	if !g.rate.has(e.hash) {
		return
	}
	if i := g.table.find(e.hash); i != 0 {
		deadline := g.table.ticks(e.deadline, g.now)
		if g.table.lives[i]&missed == 0 {
			g.moveDeadline(i, e, deadline, true)
		}
		g.table.lives[i] &^= missed
		g.update(i, e, deadline)
	}
	g.fill(e)
}

// fill makes a key live in all sizes that have room for it.
func (g *group) fill(e event) {
	i := g.table.find(e.hash)
	if i == 0 {
		if i = g.add(e.hash); i == 0 {
			return
		}
		g.table.sizes[i] = e.size
		g.table.deadlines.set(i, g.table.ticks(e.deadline, g.now))
	}
	g.table.lives[i] |= held
	for n := range g.sizes {
		z := &g.sizes[n]
		if c := &z.pieces[e.piece]; c.has(i, g.now) {
			c.makeRoom(0, g.now)
		} else if z.insert(e.piece, i, g.table.deadlines.of(i), g.now) {
			z.tallies[g.window].insert(g.weight, e.size)
		}
	}
	g.table.lives[i] &^= held
	g.table.settle(i)
}

// update notes the size and the deadline that the real record of a key has.
func (g *group) update(i uint16, e event, deadline uint32) {
	for n := range g.sizes {
		if c := &g.sizes[n].pieces[e.piece]; c.holds(i) {
			c.resize(i, e.size)
		}
	}
	g.table.sizes[i] = e.size
	g.table.deadlines.set(i, deadline)
}

// moveDeadline gives a key another deadline in all sizes that hold it, except those, with live, in which
// it has expired.
func (g *group) moveDeadline(i uint16, e event, deadline uint32, live bool) {
	for n := range g.sizes {
		if c := &g.sizes[n].pieces[e.piece]; c.holds(i) && !(live && c.expired(i, g.now)) {
			c.deadlines.set(i, deadline)
		}
	}
}

// gone reports whether a key has expired in all sizes that hold it.
func (g *group) gone(i uint16) bool {
	piece := newEvent(g.table.hashes[i], 0, 0).piece
	for n := range g.sizes {
		if g.sizes[n].pieces[piece].has(i, g.now) {
			return false
		}
	}
	return true
}

// remove takes a key out of all caches. A lane is linked in one direction: there the key, of
// no size any more, waits to come to the tail.
func (g *group) remove(i uint16) {
	piece := newEvent(g.table.hashes[i], 0, 0).piece
	for n := range g.sizes {
		if c := &g.sizes[n].pieces[piece]; c.holds(i) {
			c.resize(i, 0)
		}
	}
	g.table.bury(i)
}

// setBytes notes how many bytes the cache has for records.
func (g *group) setBytes(bytes int64) {
	g.bytes = bytes
	var excess [pieces]float64
	for p := range excess {
		excess[p] = g.excess(p)
	}
	for n := range g.sizes {
		z := &g.sizes[n]
		z.setBytes(z.factor*float64(bytes), g.rate.share, &excess, g.now)
	}
}

// begin begins to count a window, at its place.
func (g *group) begin(window int) {
	g.window, g.events[window] = window, 0
	for n := range g.sizes {
		g.sizes[n].tallies[window] = tally{}
	}
}

// eventsSince is how many requests of the sample there were from the start of a window on.
func (g *group) eventsSince(first int, r *ring) (n float64) {
	for w := first; w <= r.number; w++ {
		n += g.events[w%windows]
	}
	return n
}

// excess is how many times as many keys as its rate says a piece of the sample has, by its share of
// the real misses.
func (g *group) excess(piece int) float64 {
	misses := 0.0
	for part := piece; part < parts; part += pieces {
		misses += g.sampled[part]
	}
	if misses*g.rate.share < enoughMisses || g.real == 0 {
		return 1
	}
	return min(max(misses*pieces/g.real, 1-mostExcess), 1+mostExcess)
}

const (
	enoughMisses = 400 // of the sample: their number is then right to 5 %
	mostExcess   = 0.1
)
