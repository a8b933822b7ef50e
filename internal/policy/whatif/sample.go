package whatif

// firstRates chooses a rate by the first records: the largest size will just have room in the table.
func (g *group) firstRates(e event) {
	if g.stored >= firstRecords {
		return
	}
	g.stored++
	g.storedBytes += int64(e.size)
	if g.stored < firstRecords || g.bytes <= 0 {
		return
	}
	mean := float64(max(g.storedBytes, 1)) / firstRecords
	entries := g.sizes[len(g.sizes)-1].factor * float64(g.bytes) / mean
	if share := mostUsed * float64(g.table.room()) / entries; share < g.rate.share {
		g.resample(share)
	}
}

// mostUsed is the share of the table that is to be in use.
const mostUsed = 0.93

// add makes room for a new key: if need be by a smaller sample. It returns 0 if the key is not in
// that.
func (g *group) add(hash uint64) uint16 {
	i := g.table.add(hash)
	if i == 0 {
		g.filter(func(i uint16) bool { return !g.gone(i) })
		if g.table.used > g.table.room()*7/8 {
			g.resample(g.rate.share * shrink)
		}
		if !g.rate.has(hash) {
			return 0
		}
		i = g.table.add(hash)
	}
	return i
}

// resample makes the sample smaller.
func (g *group) resample(share float64) {
	g.setRate(share)
	g.filter(func(i uint16) bool { return g.rate.has(g.table.hashes[i]) })
	g.setBytes(g.bytes)
}

func (g *group) setRate(share float64) {
	g.weight *= g.rate.share / share
	g.rate = newRate(share)
}

// filter takes out the keys that keep refuses, and those that are dead.
func (g *group) filter(keep func(i uint16) bool) {
	for n := range g.sizes {
		for p := range g.sizes[n].pieces {
			g.sizes[n].pieces[p].filter(keep)
		}
	}
}

// grow makes the sample larger, to all keys at most. What the sizes have is then a part of what they
// would have: they fill again.
func (g *group) grow(by float64) {
	g.setRate(min(by*g.rate.share, 1))
	for n := range g.sizes {
		g.sizes[n].restart()
	}
	g.setBytes(g.bytes)
}

// growInto makes the sample as much larger as there is room for in the table, and by, for the time. It
// reports whether that is worth it.
func (g *group) growInto(by float64) bool {
	by = min(by, growTo*float64(g.table.room())/float64(max(g.table.used, 1)))
	if g.rate.share == 1 || g.stored < firstRecords || !g.settled() || by < leastGrowth {
		return false
	}
	g.grow(by)
	return true
}

// settled reports whether no size is about to need more of the table.
func (g *group) settled() bool {
	for n := range g.sizes {
		if z := &g.sizes[n]; !z.warm && z.entries() >= fewKeys {
			return false
		}
	}
	return true
}

// usage is the share of the table in use.
func (g *group) usage() float64 { return float64(g.table.used) / float64(g.table.room()) }

// growTo is the share of the table that is in use when the sample has grown.
const growTo = 0.7

// sweep takes out some keys that have expired.
func (g *group) sweep() {
	n := len(g.table.hashes)
	for range n/sweeps + 1 {
		if g.swept++; g.swept >= n {
			g.swept = 1
		}
		i := uint16(g.swept)
		if g.table.lives[i]&^missed != 0 && g.table.lives[i]&dead == 0 && g.gone(i) {
			g.remove(i)
		}
	}
}

// sweeps is how many calls of sweep look at all keys.
const sweeps = 16
