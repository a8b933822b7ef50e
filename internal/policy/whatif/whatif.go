package whatif

import (
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// Factors are those that a Simulation has, from the smallest.
var Factors = [...]float64{0.25, 0.5, 1, 2, 4, 8}

// Simulation is miniature caches beside a real one, which tells it of the requests for some keys.
// It is safe for concurrent use. Nobody waits for it: what comes while it works is lost.
type Simulation struct {
	mask atomic.Uint64 // see Wants

	mu     sync.Mutex
	groups [2]*group
	real   missCount // as the cache told last
	lost   atomic.Uint64
	budget budget
}

// New makes one that takes about so many bytes. share is of the time of one processor that it may
// take: the samples become smaller if it would be more.
func New(bytes int, share float64) *Simulation {
	small, large := Factors[:3], append([]float64{1}, Factors[3:]...)
	s := &Simulation{groups: [2]*group{newGroup(small, bytes/2), newGroup(large, bytes/2)}, budget: budget{share: share}}
	s.setMask()
	return s
}

// Wants reports whether Read and Store are to be called for a key. It is a mask of few bits:
// of the keys for which it is true, not all are in a sample.
func (s *Simulation) Wants(hash uint64) bool { return (hash^hash>>32)&s.mask.Load() == 0 }

// Mask is the mask of Wants: 0 in all of these bits of hash ^ hash>>32.
func (s *Simulation) Mask() uint64 { return s.mask.Load() }

func (s *Simulation) setMask() {
	mask := uint64(math.MaxUint64)
	for _, g := range s.groups {
		mask &= g.rate.mask()
	}
	s.mask.Store(mask)
}

// Read is a request for a key. With found, the cache had it: a record of this size and deadline.
func (s *Simulation) Read(hash uint64, found bool, size uint32, deadline, now int64) {
	s.tell(hash, func(g *group) { g.read(hash, found, size, deadline, now) })
}

// Store is a write of a key, by whatever call.
func (s *Simulation) Store(hash uint64, size uint32, deadline, now int64) {
	s.tell(hash, func(g *group) { g.store(hash, size, deadline, now) })
}

// Delete says that a key was deleted.
func (s *Simulation) Delete(hash uint64) {
	s.tell(hash, func(g *group) {
		if i := g.table.find(hash); i != 0 {
			g.remove(i)
		}
	})
}

// tell tells the groups of an event of a key that is in their samples.
func (s *Simulation) tell(hash uint64, event func(g *group)) {
	if !s.mu.TryLock() {
		s.lost.Add(1)
		return
	}
	defer s.mu.Unlock()
	heeded := false
	for _, g := range s.groups {
		if g.rate.has(hash) {
			event(g)
			if g.events++; g.events >= halfLife {
				g.scale(0.5)
			}
			heeded = true
		}
	}
	if heeded && s.budget.exceeded() {
		for _, g := range s.groups {
			g.resample(g.rate.share / 2)
		}
	}
	s.setMask()
}

// halfLife is after how many events of a sample what was counted weighs half.
const halfLife = 1 << 18

// Sync tells how many bytes the cache has for records, whether it has begun to evict, and how many
// reads found something, and nothing, since it was opened. It is called now and then, and before
// Curve.
func (s *Simulation) Sync(bytes int64, evicting bool, hits, misses uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.real
	s.real = missCount{float64(hits), float64(misses)}
	for _, g := range s.groups {
		g.real.hits += s.real.hits - was.hits
		g.real.misses += s.real.misses - was.misses
		if evicting && !g.begun {
			g.begun = true
			g.scale(0)
		}
		g.setBytes(bytes)
	}
}

// Point is what a cache of another size would do.
type Point struct {
	Factor        float64 // of the present size
	MissRatio     float64 // reads that miss, of all
	Error         float64 // standard error of MissRatio
	ByteMissRatio float64 // as MissRatio, of bytes; NaN if nothing was read
	Inserts       float64 // per read
	Entries       float64 // that it would hold
	Keys          int     // of the sample that the miniature cache holds
	Warm          bool    // it is full, or has seen everything
}

// Curve is the miss ratios at all factors, and what stands behind them.
type Curve struct {
	Points  [len(Factors)]Point
	Control float64 // the miss ratio of the miniature cache of the present size, as a check
	Real    float64 // that of the real cache, in the same time
	Reads   float64 // of the real cache that it is about
	Lost    uint64  // events
}

// Curve is the miss ratios by size.
func (s *Simulation) Curve() (curve Curve) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, f := range Factors {
		g := s.groups[0]
		if f > 1 {
			g = s.groups[1]
		}
		curve.Points[i] = g.point(f)
	}
	g := s.groups[0]
	curve.Reads = g.real.hits + g.real.misses
	curve.Real = ratio(g.real.misses, curve.Reads)
	curve.Control = ratio(g.control.count.missed(), curve.Reads)
	curve.Lost = s.lost.Load()
	return curve
}

// point is that of one of the group's caches.
func (g *group) point(factor float64) Point {
	for n := range g.caches {
		c := &g.caches[n]
		if c.factor != factor {
			continue
		}
		reads := g.real.hits + g.real.misses
		misses, err := c.count.correct(&g.control.count, g.real.misses)
		return Point{
			Factor: factor, MissRatio: min(ratio(misses, reads), 1), Error: ratio(err, reads),
			ByteMissRatio: min(ratio(c.count.missBytes, c.count.requestBytes), 1),
			Inserts:       ratio(c.count.inserts/g.rate.share, reads),
			Entries:       float64(c.entries()) / g.rate.share, Keys: int(c.entries()),
			Warm: !c.filling || float64(g.events) > seenAll*float64(c.entries()),
		}
	}
	return Point{}
}

// seenAll is how many times its keys a cache that is not full has been asked for when nearly
// nothing is new to it any more.
const seenAll = 8

// ratio is a/b, NaN for nothing of nothing.
func ratio(a, b float64) float64 { return a / b }

// budget bounds the time that the simulation takes.
type budget struct {
	share  float64 // of one processor
	events int     // since
	since  time.Time
}

const (
	// eventCost is how long an event takes, about: BenchmarkRead.
	eventCost = 600 * time.Nanosecond
	// budgetEvents is how many events are timed together.
	budgetEvents = 4096
)

// exceeded counts an event, and reports whether the last ones have come too fast.
func (b *budget) exceeded() bool {
	if b.events++; b.events < budgetEvents {
		return false
	}
	now := time.Now()
	took := now.Sub(b.since)
	b.events, b.since = 0, now
	return took < time.Duration(budgetEvents*float64(eventCost)/b.share)
}
