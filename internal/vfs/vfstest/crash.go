package vfstest

import (
	"cmp"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
)

// Crash is a way to end.
type Crash int

const (
	// Kill ends the process, as kill -9: everything written is there, and what
	// was not synced can still be lost by a later PowerCut. Memory that outlives
	// the process is as it was at that instant, by the same MemoryID.
	Kill Crash = iota
	// PowerCut ends the machine. What was synced is there. Every sector or block
	// that was written since holds the bytes it held at the sync or after any write
	// since: writes are lost, reordered and torn at 512 bytes and 4 KiB. Every
	// creation, removal and rename since SyncDir is done or not, each for itself.
	// Memory is gone.
	PowerCut
)

// CrashClone returns the file system as it is found after a crash at this
// moment; this one goes on. Locks of the clone are free, and files without a
// name are gone. Quota and alignment are kept. The same numbers from rng, which
// Kill does not use, give the same clone.
func (m *Mem) CrashClone(rng *rand.Rand, crash Crash) *Mem {
	m.mu.RLock()
	defer m.mu.RUnlock()
	c := m.clone()
	if crash == PowerCut {
		c.cutPower(rng)
	} else {
		c.kept = m.keptByKill()
	}
	for _, n := range c.files() {
		n.recount()
	}
	for _, n := range c.names {
		c.used += n.charged
	}
	return c
}

// clone copies everything but memory, open files, locks and what they occupy.
func (m *Mem) clone() *Mem {
	copies := map[*node]*node{}
	copyOf := func(n *node) *node {
		if copies[n] == nil {
			c := *n
			c.users, c.charged = 0, 0
			c.stable, c.dirty, c.sizes = maps.Clone(n.stable), maps.Clone(n.dirty), slices.Clone(n.sizes)
			copies[n] = &c
		}
		return copies[n]
	}
	c := NewMem()
	c.moment, c.nodes, c.quota, c.align, c.noKept = m.moment, m.nodes, m.quota, m.align, m.noKept
	for name, n := range m.names {
		c.names[name] = copyOf(n)
	}
	for name, n := range m.stable {
		c.stable[name] = copyOf(n)
	}
	for _, s := range m.steps {
		s.node = copyOf(s.node)
		c.steps = append(c.steps, s)
	}
	return c
}

// files are the files that have or had a name, oldest first.
func (m *Mem) files() []*node {
	seen := map[*node]bool{}
	for _, n := range m.names {
		seen[n] = true
	}
	for _, n := range m.stable {
		seen[n] = true
	}
	return slices.SortedFunc(maps.Keys(seen), func(a, b *node) int { return cmp.Compare(a.id, b.id) })
}

func (m *Mem) cutPower(rng *rand.Rand) {
	m.names = m.stable
	for _, s := range survivors(rng, m.steps) {
		s.apply(m.names)
	}
	m.stable, m.steps = maps.Clone(m.names), nil
	for _, n := range m.files() {
		n.cutPower(rng)
	}
}

// dirStep is a change of the directory: a file got the name to, lost the name
// from, or both at once.
type dirStep struct {
	from, to string // "" for none
	node     *node
}

// apply does the step, in a directory where steps before it may be missing: it
// removes nothing but its own file, which has one name afterwards if it has any.
func (s dirStep) apply(names map[string]*node) {
	if s.to == "" {
		if names[s.from] == s.node {
			delete(names, s.from)
		}
		return
	}
	maps.DeleteFunc(names, func(_ string, n *node) bool { return n == s.node })
	names[s.to] = s.node
}

// survivors chooses the steps that reached the disk: none, all, those up to a
// moment, or any.
func survivors(rng *rand.Rand, steps []dirStep) []dirStep {
	switch rng.IntN(4) {
	case 0:
		return nil
	case 1:
		return steps
	case 2:
		return steps[:rng.IntN(len(steps)+1)]
	}
	var kept []dirStep
	for _, s := range steps {
		if rng.IntN(2) == 0 {
			kept = append(kept, s)
		}
	}
	return kept
}

// cutPower chooses which of the unsynced bytes reached the disk: none, all,
// those written up to a moment, or for every block or sector anything that it
// held since the sync.
func (n *node) cutPower(rng *rand.Rand) {
	switch rng.IntN(5) {
	case 0:
		n.keep(n.stableSize, func(i int64) block { return n.stable[i] })
	case 1:
		n.keep(n.size, n.at)
	case 2:
		n.keepUntil(rng)
	case 3:
		n.keepAny(rng, blockSize)
	case 4:
		n.keepAny(rng, sectorSize)
	}
}

// keep settles the file: its size, and for every dirty block the content chosen.
func (n *node) keep(size int64, choose func(i int64) block) {
	for _, i := range slices.Sorted(maps.Keys(n.dirty)) {
		n.settle(i, choose(i))
	}
	n.size = math.MaxInt64 // all bytes ever written after the end are cut off
	n.truncate(size, 0)
	n.sync()
}

// keepUntil keeps the bytes written up to a moment, and of the write at that
// moment the sectors before one.
func (n *node) keepUntil(rng *rand.Rand) {
	last := n.pickMoment(rng)
	var torn []int64 // the blocks of the last write
	for _, i := range slices.Sorted(maps.Keys(n.dirty)) {
		if slices.ContainsFunc(n.dirty[i].versions, func(v version) bool { return v.at == last }) {
			torn = append(torn, i)
		}
	}
	tear := int64(0) // the first byte that is not kept
	if len(torn) > 0 {
		from, to := torn[0]*blockSize/sectorSize, (torn[len(torn)-1]+1)*blockSize/sectorSize
		tear = (from + rng.Int64N(to-from+1)) * sectorSize
	}
	size := n.stableSize
	for _, s := range n.sizes {
		if s.at <= last {
			size = s.size
		}
	}
	n.keep(size, func(i int64) block {
		before, after := n.stable[i], n.stable[i]
		for _, v := range n.dirty[i].versions {
			if v.at < last {
				before = v.data
			}
			if v.at <= last {
				after = v.data
			}
		}
		cut := min(max(tear-i*blockSize, 0), blockSize)
		return join(after, before, int(cut))
	})
}

// pickMoment is that of any change of the file since its sync.
func (n *node) pickMoment(rng *rand.Rand) moment {
	var all []moment
	for _, s := range n.sizes {
		all = append(all, s.at)
	}
	for _, d := range n.dirty {
		for _, v := range d.versions {
			all = append(all, v.at)
		}
	}
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	all = slices.Compact(all)
	return all[rng.IntN(len(all))]
}

// keepAny keeps for every unit of so many bytes any version, and any size. In
// one file many units are as written, in another few.
func (n *node) keepAny(rng *rand.Rand, unit int) {
	newest := rng.Float64()
	pick := func(i int64) block {
		versions := n.dirty[i].versions
		j := len(versions) - 1
		if rng.Float64() >= newest {
			j = rng.IntN(len(versions)+1) - 1
		}
		if j < 0 {
			return n.stable[i]
		}
		return versions[j].data
	}
	size := n.size
	if j := rng.IntN(len(n.sizes)+1) - 1; j >= 0 {
		size = n.sizes[j].size
	} else if rng.IntN(2) == 0 {
		size = n.stableSize
	}
	n.keep(size, func(i int64) block {
		b := pick(i)
		for in := unit; in < blockSize; in += unit {
			b = join(b, pick(i), in)
		}
		return b
	})
}

// join is the first n bytes of a, and then those of b.
func join(a, b block, n int) block {
	switch {
	case a == b || n == blockSize:
		return a
	case n == 0:
		return b
	}
	next := new([blockSize]byte)
	if b != nil {
		*next = *b
	}
	clear(next[:n])
	if a != nil {
		copy(next[:n], a[:n])
	}
	return next
}
