package whatif

import (
	"math"

	"github.com/firncache/firn/internal/policy"
)

// group is some caches of like sizes, on one sample of the keys.
type group struct {
	table   *table
	caches  []cache
	control *cache // of the present size
	rate    rate
	bytes   int64 // that the cache has for records
	events  int   // since the counts were halved
	begun   bool  // the counts leave out the time in which the cache filled

	sampled, real missCount // of the cache itself: of the sample's keys, and of all
}

// missCount is how often the cache itself had what was asked for, and how often it had not.
type missCount struct{ hits, misses float64 }

func (m *missCount) scale(by float64) { m.hits, m.misses = m.hits*by, m.misses*by }

// newGroup makes caches of so many times the present size, in about so many bytes.
func newGroup(factors []float64, bytes int) *group {
	largest, sum := 0.0, 0.0
	for _, f := range factors {
		largest, sum = max(largest, f), sum+f
	}
	perKey := float64(tableKeyBytes+len(factors)*laneKeyBytes) + ghostsPerEntry*policy.GhostBytes*sum/largest
	n := min(int(float64(bytes-len(factors)*tunerKeys*policy.TunerKeyBytes)/perKey), math.MaxUint16-1)
	g := &group{table: newTable(n), rate: newRate(mostShare), caches: make([]cache, len(factors))}
	for i, f := range factors {
		c := &g.caches[i]
		*c = cache{
			table: g.table, bit: 1 << i, factor: f, filling: true,
			tuner:  policy.NewTunerOfKeys(tunerKeys),
			memory: make([]uint64, policy.GhostWords(int64(float64(n)*f/largest), ghostRoom)),
			stamps: make([]uint32, n+1), next: make([]uint16, n+1), state: make([]uint8, n+1),
		}
		if f == 1 {
			g.control = c
		}
	}
	return g
}

const (
	ghostsPerEntry = 3        // as in package policy
	tunerKeys      = 160      // that the shadows of a miniature cache hold
	mostShare      = 1.0 / 16 // of the keys is in a sample: the reads of no more are reported
	shrink         = 0.85     // is the sample's rate multiplied by when the table is full
)

// read is a request for a key. With found, the cache had it, of a size; otherwise nothing is
// known of it.
func (g *group) read(hash uint64, found bool, size uint32, deadline, now int64) {
	i := g.live(hash, now)
	weight := 1 / g.rate.share
	if found {
		g.sampled.hits += weight
	} else {
		g.sampled.misses += weight
		if i != 0 {
			size = g.table.sizes[i]
		}
	}
	missed := false
	for n := range g.caches {
		c := &g.caches[n]
		has := c.has(i)
		c.count.read(hash, has, weight, size)
		if has {
			c.read(i)
		} else {
			missed = true
		}
	}
	if found && missed { // a smaller cache would have loaded it
		g.store(hash, size, deadline, now)
	}
}

// store makes a key live in all caches that have room for it.
func (g *group) store(hash uint64, size uint32, deadline, now int64) {
	i := g.live(hash, now)
	for i == 0 {
		if i = g.table.add(hash); i == 0 {
			g.resample(g.rate.share * shrink)
			if !g.rate.has(hash) {
				return
			}
		}
	}
	t := g.table
	t.lives[i] |= held
	for n := range g.caches {
		if c := &g.caches[n]; c.has(i) {
			c.resize(i, size)
		}
	}
	t.sizes[i], t.deadlines[i] = size, ticks(deadline)
	for n := range g.caches {
		if c := &g.caches[n]; c.has(i) {
			c.makeRoom(0)
		} else {
			c.insert(i)
		}
	}
	t.lives[i] &^= held
	t.settle(i)
}

// live is the number of a key that has not expired, 0 if it is in no cache.
func (g *group) live(hash uint64, now int64) uint16 {
	i := g.table.find(hash)
	if i != 0 && g.table.deadlines[i] != 0 && now/tick > int64(g.table.deadlines[i]) {
		g.remove(i)
		return 0
	}
	return i
}

// remove takes a key out of all caches. A lane is linked in one direction: there the key, of
// no size any more, waits to come to the tail.
func (g *group) remove(i uint16) {
	for n := range g.caches {
		if c := &g.caches[n]; c.has(i) {
			c.resize(i, 0)
		}
	}
	g.table.bury(i)
}

// resample makes the sample smaller.
func (g *group) resample(share float64) {
	g.rate = newRate(share)
	for n := range g.caches {
		c := &g.caches[n]
		c.filter(func(i uint16) bool {
			return g.table.lives[i]&dead == 0 && g.rate.has(g.table.hashes[i])
		})
	}
	g.setBytes(g.bytes)
	for n := range g.caches {
		if c := &g.caches[n]; !c.filling && c.entries() < c.ghostsOf/2 {
			c.renewGhosts()
		}
	}
}

// setBytes tells how many bytes the cache has for records.
func (g *group) setBytes(bytes int64) {
	g.bytes = bytes
	for n := range g.caches {
		c := &g.caches[n]
		c.capacity = int64(c.factor * float64(bytes) * g.rate.share * g.excess())
		c.makeRoom(0)
	}
}

// excess is how many times as many keys as its rate says the sample has, by its share of the
// real misses.
func (g *group) excess() float64 {
	if g.sampled.misses*g.rate.share < enoughMisses || g.real.misses == 0 {
		return 1
	}
	return min(max(g.sampled.misses/g.real.misses, 1-mostExcess), 1+mostExcess)
}

const (
	enoughMisses = 400 // of the sample: their number is then right to 5 %
	mostExcess   = 0.1
)

// scale lets what was counted weigh less than what comes.
func (g *group) scale(by float64) {
	g.sampled.scale(by)
	g.real.scale(by)
	for n := range g.caches {
		g.caches[n].count.scale(by)
	}
	g.events = int(float64(g.events) * by)
}
