package whatif

import "github.com/firncache/firn/internal/policy"

// cache is a miniature cache: it knows keys and sizes, and holds no data. Its lanes are exact
// queues where the RAM tier has segments.
type cache struct {
	*columns
	table    *table
	bit      uint8         // in table.lives
	capacity int64         // in bytes
	most     int64         // bytes that a record takes of it: larger ones count as so large
	filling  bool          // it has not evicted anything yet
	tuner    *policy.Tuner // the mate's, too
	mate     *cache
	chosen   *policy.Setting // by the cache itself: where there is no room for a tuner it is taken here, too
	ghosts   policy.Ghosts
	memory   []uint64 // of the ghosts
	ghostsOf int64    // so many entries
	lanes    [2]lane
}

// Bits of a key's state beside its frequency.
const (
	inMain = 1 << 7
	again  = 1 << 6 // it has expired and come in again: its place in the lane is that of the old record
	flags  = inMain | again
)

// lane is a queue of keys.
type lane struct {
	oldest, newest uint16
	keys           int64
	bytes          int64
}

func (c *cache) init(t *table, columns *columns, chosen *policy.Setting, bit uint8, entries int) {
	*c = cache{
		table: t, columns: columns, chosen: chosen, bit: bit, filling: true,
		tuner: untuned, mate: c,
		memory: make([]uint64, policy.GhostWords(int64(entries), ghostRoom)),
	}
}

// pair gives two caches one tuner, of so many keys: it sees the requests of both.
func pair(a, b *cache, tunerKeys int) {
	a.mate, b.mate = b, a
	a.tuner = policy.NewTunerOfKeys(tunerKeys)
	b.tuner = a.tuner
}

// untuned is the tuner of all caches that have none of their own: it never changes.
var untuned = policy.NewTunerOfKeys(0)

func (c *cache) entries() int64 { return c.lanes[0].keys + c.lanes[1].keys }
func (c *cache) bytes() int64   { return c.lanes[0].bytes + c.lanes[1].bytes }

// holds reports whether a key is in a lane, has whether it is and has not expired.
func (c *cache) holds(i uint16) bool          { return i != 0 && c.table.lives[i]&c.bit != 0 }
func (c *cache) has(i uint16, now int64) bool { return c.holds(i) && !c.expired(i, now) }

// expired reports whether the deadline of a key that the cache holds has passed.
func (c *cache) expired(i uint16, now int64) bool { return c.table.past(c.deadlines.of(i), now) }

// read notes a read of a key that the cache has.
func (c *cache) read(i uint16) {
	if c.state[i]&^flags < policy.MaxFrequency {
		c.state[i]++
	}
	c.report(mix(c.table.hashes[i]), true)
}

// report lets the tuner see a request for a key, present or being stored.
func (c *cache) report(hash uint64, present bool) {
	c.tuner.Request(hash, c.entries()+c.mate.entries(), c.filling, present)
}

// sizeOf is what a key takes of the capacity.
func (c *cache) sizeOf(i uint16) int64 { return min(int64(c.table.sizes[i]), c.most) }

// setCapacity changes the capacity; a record takes about so many bytes of it at most.
func (c *cache) setCapacity(bytes, most, now int64) {
	c.capacity = bytes
	if most = max(most, 1); most > 2*c.most || most < c.most/2 {
		c.most = most
		for l := range c.lanes {
			c.lanes[l].bytes = 0
			c.each(policy.Lane(l), func(i uint16) { c.lanes[l].bytes += c.sizeOf(i) })
		}
	}
	c.makeRoom(0, now)
	c.fitGhosts()
}

// each calls f with the keys of a lane, the oldest first.
func (c *cache) each(l policy.Lane, f func(i uint16)) {
	for i, n := c.lanes[l].oldest, c.lanes[l].keys; n > 0; n-- {
		f(i)
		i = c.next[i]
	}
}

// insert makes a key live here, which did not. One that has expired takes the old record's place until
// that comes to its lane's tail: a lane is linked in one direction.
func (c *cache) insert(i uint16, deadline uint32, now int64) {
	size := c.sizeOf(i)
	c.deadlines.set(i, deadline)
	if c.holds(i) {
		c.report(mix(c.table.hashes[i]), false)
		c.state[i] = c.state[i]&inMain | again
		c.makeRoom(0, now)
		return
	}
	hash, to := mix(c.table.hashes[i]), policy.Main
	c.report(hash, false)
	c.makeRoom(size, now)
	if !c.filling {
		to = c.ghosts.Lane(hash, c.stamp(policy.Small), c.stamp(policy.Main))
	}
	c.table.lives[i] |= c.bit
	c.push(to, i, 0)
}

// makeRoom evicts until there is room for so many bytes.
func (c *cache) makeRoom(size, now int64) {
	for c.bytes()+size > c.capacity && c.entries() > 0 {
		if c.filling {
			c.filling = false
			c.renewGhosts()
		}
		c.evictOne(now)
	}
}

// renewGhosts makes the ghosts those of as many entries as there are.
func (c *cache) renewGhosts() {
	clear(c.memory)
	c.ghostsOf = c.entries()
	c.ghosts = policy.NewGhosts(c.memory[:min(policy.GhostWords(c.entries(), ghostRoom), len(c.memory))])
	for l := range c.lanes { // the clock begins again
		c.each(policy.Lane(l), func(i uint16) { c.stamps[i] = 0 })
	}
}

// fitGhosts renews them if there are far more entries, or fewer.
func (c *cache) fitGhosts() {
	if n := c.entries(); !c.filling && (n < c.ghostsOf/2 || n > 2*c.ghostsOf) {
		c.renewGhosts()
	}
}

// ghostRoom is so large that a record's size does not limit the number of ghosts.
const ghostRoom = 1 << 40

// stamp is when a lane's tail came into it.
func (c *cache) stamp(l policy.Lane) uint32 {
	if c.lanes[l].keys == 0 {
		return c.ghosts.Clock()
	}
	clock := c.ghosts.Clock()
	return clock - uint32(uint16(clock)-c.stamps[c.lanes[l].oldest])
}

// ageStamps has no stamp be further back than its 16 bits reach.
func (c *cache) ageStamps() {
	clock := uint16(c.ghosts.Clock())
	if clock%agedEvery != 0 {
		return
	}
	for l := range c.lanes {
		c.each(policy.Lane(l), func(i uint16) {
			if clock-c.stamps[i] > mostAge {
				c.stamps[i] = clock - mostAge
			}
		})
	}
}

// A tail that came mostAge evictions ago has been there for longer than any ghost is remembered. With the
// evictions until it is looked at again that is below 1<<16.
const (
	mostAge   = 3 << 14
	agedEvery = 1 << 13
)

// evictOne works off one key at a tail.
func (c *cache) evictOne(now int64) {
	setting := c.setting()
	small, main := c.lanes[policy.Small].bytes, c.lanes[policy.Main].bytes
	from := setting.Victim(small, main)
	if c.lanes[from].keys == 0 {
		from = policy.Main - from // what is left has no size
	}
	i := c.pop(from)
	if c.table.lives[i]&dead != 0 || c.expired(i, now) {
		c.forget(i)
		return
	}
	if c.state[i]&again != 0 {
		c.push(policy.Small, i, c.state[i]&^flags)
		return
	}
	to, frequency := setting.Next(from, c.state[i]&^flags, small, main)
	if to == policy.None {
		c.ghosts.Evict(from, mix(c.table.hashes[i]))
		c.forget(i)
		c.ageStamps()
		return
	}
	c.push(to, i, frequency)
}

func (c *cache) setting() policy.Setting {
	if c.tuner == untuned {
		return *c.chosen
	}
	return c.tuner.Setting()
}

// forget notes that a key, which is in no lane any more, does not live here.
func (c *cache) forget(i uint16) {
	c.table.lives[i] &^= c.bit
	c.table.settle(i)
}

func (c *cache) push(to policy.Lane, i uint16, frequency uint8) {
	l := &c.lanes[to]
	c.stamps[i], c.next[i], c.state[i] = uint16(c.ghosts.Clock()), 0, frequency
	if to == policy.Main {
		c.state[i] |= inMain
	}
	if l.keys == 0 {
		l.oldest = i
	} else {
		c.next[l.newest] = i
	}
	l.newest = i
	l.keys++
	l.bytes += c.sizeOf(i)
}

func (c *cache) pop(from policy.Lane) uint16 {
	l := &c.lanes[from]
	i := l.oldest
	l.oldest = c.next[i]
	l.keys--
	l.bytes -= c.sizeOf(i)
	return i
}

// resize notes that a key which lives here is about to have another size.
func (c *cache) resize(i uint16, size uint32) {
	l := &c.lanes[policy.Small]
	if c.state[i]&inMain != 0 {
		l = &c.lanes[policy.Main]
	}
	l.bytes += min(int64(size), c.most) - c.sizeOf(i)
}

// filter takes out the keys that keep refuses, and those that are dead.
func (c *cache) filter(keep func(i uint16) bool) {
	for l := range c.lanes {
		for range c.lanes[l].keys {
			i := c.pop(policy.Lane(l))
			if c.table.lives[i]&dead != 0 || !keep(i) {
				c.forget(i)
				continue
			}
			stamp, state := c.stamps[i], c.state[i]
			c.push(policy.Lane(l), i, 0)
			c.stamps[i], c.state[i] = stamp, state
		}
	}
}
