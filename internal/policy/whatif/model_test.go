package whatif

import (
	"slices"
	"testing"

	"github.com/firncache/firn/internal/policy"
	"pgregory.net/rapid"
)

// modelKey is a key in a modelCache.
type modelKey struct {
	hash      uint64
	size      int64
	deadline  int64 // in ticks; 0: never
	frequency uint8
	stamp     uint32
	dead      bool
	again     bool
}

// modelCache is a miniature cache as one would write it without regard to memory.
type modelCache struct {
	capacity int64
	most     int64
	filling  bool
	tuner    *policy.Tuner // the mate's, too
	mate     *modelCache
	ghosts   policy.Ghosts
	words    int // of the ghosts, at most
	ghostsOf int
	lanes    [2][]*modelKey // the oldest first
	live     map[uint64]*modelKey
}

func (c *modelCache) laneBytes(l policy.Lane) (n int64) {
	for _, k := range c.lanes[l] {
		n += min(k.size, c.most)
	}
	return n
}

func (c *modelCache) entries() int { return len(c.lanes[0]) + len(c.lanes[1]) }

func (c *modelCache) read(hash uint64) {
	k := c.live[hash]
	k.frequency = min(k.frequency+1, policy.MaxFrequency)
	c.tuner.Request(mix(hash), int64(c.entries()+c.mate.entries()), c.filling, true)
}

func (c *modelCache) insert(k *modelKey, now int64) {
	if old := c.live[k.hash]; old != nil { // it has expired
		old.deadline, old.frequency, old.again = k.deadline, 0, true
		c.tuner.Request(mix(k.hash), int64(c.entries()+c.mate.entries()), c.filling, false)
		c.makeRoom(0, now)
		return
	}
	c.tuner.Request(mix(k.hash), int64(c.entries()+c.mate.entries()), c.filling, false)
	c.makeRoom(min(k.size, c.most), now)
	to := policy.Main
	if !c.filling {
		to = c.ghosts.Lane(mix(k.hash), c.stamp(policy.Small), c.stamp(policy.Main))
	}
	k.stamp = c.ghosts.Clock()
	c.lanes[to] = append(c.lanes[to], k)
	c.live[k.hash] = k
}

func (c *modelCache) stamp(l policy.Lane) uint32 {
	if len(c.lanes[l]) == 0 {
		return c.ghosts.Clock()
	}
	return c.lanes[l][0].stamp
}

func (c *modelCache) makeRoom(size, now int64) {
	for c.laneBytes(policy.Small)+c.laneBytes(policy.Main)+size > c.capacity && c.entries() > 0 {
		if c.filling {
			c.filling = false
			c.renewGhosts()
		}
		c.evictOne(now)
	}
}

func (c *modelCache) renewGhosts() {
	c.ghostsOf = c.entries()
	c.ghosts = policy.NewGhosts(make([]uint64, min(policy.GhostWords(int64(c.entries()), ghostRoom), c.words)))
	for _, lane := range c.lanes {
		for _, k := range lane {
			k.stamp = 0
		}
	}
}

func (c *modelCache) evictOne(now int64) {
	small, main := c.laneBytes(policy.Small), c.laneBytes(policy.Main)
	setting := c.tuner.Setting()
	from := setting.Victim(small, main)
	if len(c.lanes[from]) == 0 {
		from = policy.Main - from
	}
	k := c.lanes[from][0]
	c.lanes[from] = c.lanes[from][1:]
	if k.dead {
		return
	}
	if k.expired(now) {
		delete(c.live, k.hash)
		return
	}
	if k.again {
		k.again, k.stamp = false, c.ghosts.Clock()
		c.lanes[policy.Small] = append(c.lanes[policy.Small], k)
		return
	}
	to, frequency := setting.Next(from, k.frequency, small, main)
	if to == policy.None {
		c.ghosts.Evict(from, mix(k.hash))
		delete(c.live, k.hash)
		return
	}
	k.frequency, k.stamp = frequency, c.ghosts.Clock()
	c.lanes[to] = append(c.lanes[to], k)
}

func (k *modelKey) expired(now int64) bool { return k.deadline != 0 && now/tick >= k.deadline }

func (c *modelCache) remove(hash uint64) {
	if k := c.live[hash]; k != nil {
		k.dead, k.size = true, 0
		delete(c.live, hash)
	}
}

// model is the miniature caches of a group, whose sample is all keys.
type model struct {
	g      *group
	caches [][pieces]*modelCache
	now    int64
	told   map[uint64]int64 // deadlines of real records, of the keys that are somewhere
	missed map[uint64]bool  // keys that the real cache was asked for, and had not
}

func newModel(g *group) *model {
	m := &model{g: g, told: map[uint64]int64{}, missed: map[uint64]bool{}}
	for n := range g.sizes {
		var some [pieces]*modelCache
		for p := range some {
			some[p] = &modelCache{
				filling: true, words: len(g.sizes[n].pieces[p].memory), live: map[uint64]*modelKey{},
			}
		}
		for p := 0; p < pieces; p += 2 {
			a, b := some[p], some[p+1]
			a.tuner = policy.NewTunerOfKeys(modelTunerKeys)
			a.mate, b.mate, b.tuner = b, a, a.tuner
		}
		m.caches = append(m.caches, some)
	}
	return m
}

// of are the caches that a key may live in, one of each size.
func (m *model) of(hash uint64) (all []*modelCache) {
	for _, some := range m.caches {
		all = append(all, some[newEvent(hash, 0, 0).piece])
	}
	return all
}

func (m *model) remove(hash uint64) {
	for _, c := range m.of(hash) {
		c.remove(hash)
	}
}

// has reports whether a key is in a cache and has not expired.
func (m *model) has(c *modelCache, hash uint64) bool {
	k := c.live[hash]
	return k != nil && !k.expired(m.now)
}

// somewhere reports whether a key is in a cache, expired or not. Of others nothing is known.
func (m *model) somewhere(hash uint64) bool {
	for _, c := range m.of(hash) {
		if c.live[hash] != nil {
			return true
		}
	}
	delete(m.told, hash)
	delete(m.missed, hash)
	return false
}

func (m *model) read(hash uint64, found bool, size, deadline int64) {
	if known := m.somewhere(hash); known && !found {
		m.missed[hash] = true
	} else if known {
		for _, c := range m.of(hash) {
			if k := c.live[hash]; k != nil {
				k.size = size
				if modelTicks(deadline) != m.told[hash] {
					k.deadline = modelTicks(deadline)
				}
			}
		}
		m.told[hash] = modelTicks(deadline)
	}
	lacking := false
	for _, c := range m.of(hash) {
		if m.has(c, hash) {
			c.read(hash)
		} else {
			lacking = true
		}
	}
	if found && lacking {
		m.fill(hash, size, deadline)
	}
}

func (m *model) store(hash uint64, size, deadline int64) {
	if m.somewhere(hash) {
		for _, c := range m.of(hash) {
			if k := c.live[hash]; k != nil {
				if !m.missed[hash] && m.has(c, hash) {
					k.deadline = modelTicks(deadline)
				}
				k.size = size
			}
		}
		m.told[hash] = modelTicks(deadline)
		delete(m.missed, hash)
	}
	m.fill(hash, size, deadline)
}

func (m *model) fill(hash uint64, size, deadline int64) {
	for n, c := range m.of(hash) {
		if m.has(c, hash) {
			c.makeRoom(0, m.now)
		} else if size <= m.g.sizes[n].largest {
			c.insert(&modelKey{hash: hash, size: size, deadline: modelTicks(deadline)}, m.now)
		}
	}
	m.told[hash] = modelTicks(deadline)
}

func modelTicks(deadline int64) int64 {
	if deadline == 0 {
		return 0
	}
	return deadline/tick + 1
}

func (m *model) setBytes(bytes int64) {
	for n, some := range m.caches {
		for p, c := range some {
			c.capacity, c.most = m.g.sizes[n].pieces[p].capacity, m.g.sizes[n].pieces[p].most // which setBytes has set
			c.makeRoom(0, m.now)
			if e := c.entries(); !c.filling && (e < c.ghostsOf/2 || e > 2*c.ghostsOf) {
				c.renewGhosts()
			}
		}
	}
}

// check compares what lives where.
func (m *model) check(t *rapid.T) {
	for n, some := range m.caches {
		for p, c := range some {
			z := &m.g.sizes[n].pieces[p]
			if z.bytes() != c.laneBytes(0)+c.laneBytes(1) || z.entries() != int64(c.entries()) {
				t.Fatalf("×%g: %d keys of %d bytes, want %d of %d", m.g.sizes[n].factor, z.entries(), z.bytes(), c.entries(), c.laneBytes(0)+c.laneBytes(1))
			}
			for hash := range uint64(modelKeys) {
				if e := newEvent(hash, 0, 0); e.piece == p && z.holds(m.g.table.find(hash)) != (c.live[hash] != nil) {
					t.Fatalf("×%g: has key %d: %v, want otherwise", m.g.sizes[n].factor, hash, c.live[hash] == nil)
				}
			}
		}
	}
}

const (
	modelKeys      = 120
	modelTunerKeys = 16
)

// Miniature caches do what a slow model of them does, and keep their books.
func TestModel(t *testing.T) {
	t.Parallel()
	skipUnderRace(t)
	rapid.Check(t, func(t *rapid.T) {
		g := newGroupOf([]float64{0.5, 1, 2}, modelKeys*3, modelTunerKeys, true)
		g.stored = firstRecords
		m := newModel(g)
		hash := rapid.Uint64Range(0, modelKeys-1)
		size := rapid.Uint32Range(0, 100)
		ttl := rapid.SampledFrom([]int64{0, 0, 1, 300, 1000})
		deadline := func(t *rapid.T) int64 {
			if after := ttl.Draw(t, "ttl"); after != 0 {
				return g.now + after
			}
			return 0
		}
		setBytes := func(t *rapid.T) {
			bytes := rapid.SampledFrom([]int64{0, 40, 400, 1000, 2000, 4000}).Draw(t, "bytes")
			g.setBytes(bytes)
			m.setBytes(bytes)
		}
		g.table.base = 0
		setBytes(t)
		t.Repeat(map[string]func(*rapid.T){
			"": m.check,
			"read": func(t *rapid.T) {
				for range rapid.IntRange(1, 30).Draw(t, "times") {
					h, found, s, d := hash.Draw(t, "hash"), rapid.Bool().Draw(t, "found"), size.Draw(t, "size"), deadline(t)
					g.read(newEvent(h, s, d), found)
					m.read(h, found, int64(s), d)
				}
			},
			"store": func(t *rapid.T) {
				for range rapid.IntRange(1, 60).Draw(t, "times") {
					h, s, d := hash.Draw(t, "hash"), size.Draw(t, "size"), deadline(t)
					g.store(newEvent(h, s, d))
					m.store(h, int64(s), d)
				}
			},
			"delete": func(t *rapid.T) {
				h := hash.Draw(t, "hash")
				g.do(newEvent(h, 0, 0), del, false)
				m.remove(h)
			},
			"wait": func(t *rapid.T) {
				g.now += rapid.Int64Range(0, 2000).Draw(t, "ms")
				m.now = g.now
			},
			"resize": setBytes,
		})
		if n := books(g); n != "" {
			t.Fatal(n)
		}
	})
}

// books says what is wrong with the books of a group, if anything is.
func books(g *group) string {
	used := 0
	for i := 1; i < len(g.table.hashes); i++ {
		if g.table.lives[i] != 0 {
			used++
		}
	}
	free := 0
	for i := g.table.free; i != 0; i = g.table.chains[i] {
		free++
	}
	if used != g.table.used || used+free != g.table.room() {
		return "the table has lost keys"
	}
	for n := range g.sizes {
		for p := range g.sizes[n].pieces {
			c := &g.sizes[n].pieces[p]
			if !slices.Equal(laneKeys(c), ownKeys(c, p)) {
				return "lanes and table do not agree"
			}
		}
	}
	return ""
}

// laneKeys are the keys in a cache's lanes.
func laneKeys(c *cache) (keys []uint16) {
	for _, l := range c.lanes {
		for i, n := l.oldest, l.keys; n > 0; n-- {
			keys = append(keys, i)
			i = c.next[i]
		}
	}
	slices.Sort(keys)
	return keys
}

// ownKeys are the keys of which the table says that they live in a cache.
func ownKeys(c *cache, piece int) (keys []uint16) {
	for i := 1; i < len(c.table.hashes); i++ {
		if c.table.lives[i]&c.bit != 0 && newEvent(c.table.hashes[i], 0, 0).piece == piece {
			keys = append(keys, uint16(i))
		}
	}
	return keys
}
