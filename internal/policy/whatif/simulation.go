package whatif

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/firncache/firn/internal/policy"
)

// Factors are those that a Simulation has, from the smallest.
var Factors = [...]float64{0.25, 0.5, 1, 2, 4, 8}

// Simulation is miniature caches beside a real one, which reports the requests for some keys.
// It is safe for concurrent use. Read, Store and Delete do not wait: a request that comes while another
// is worked off is lost. Sync, Clear and Curve wait.
type Simulation struct {
	// Waits has Read, Store and Delete wait, so that no request is lost. It is set before the first call.
	Waits bool

	mask atomic.Uint64 // see Wants
	lost atomic.Uint64

	mu           sync.Mutex
	groups       [2]*group
	ring         ring
	real         missCount // as the cache reported last
	budget       budget
	countedBytes int64   // that the cache had for records when the windows began
	evicting     bool    // the real cache evicts to make room
	now          int64   // milliseconds
	synced       int64   // when Sync was called last
	events       float64 // since
	missed       uint64  // lost, then
	roomy        int     // verdicts in a row that found time for more
	room         float64 // times as much, the least of these
	wait         int     // so many such verdicts, before a sample grows
	grown        bool    // one has, since one last became smaller
	expires      bool    // a record had a deadline
}

// smallGroup is the part of the memory, in percent, that the group of the small factors has: half the
// present size has twice as many keys there as twice the present size in the other.
const smallGroup = 35

// MinBytes is the least that a Simulation can do with: in half of it neither half of the present
// size nor twice that has the keys that a figure takes.
const MinBytes = 64 << 10

// largestBytes is the memory from which on the largest size is simulated: the sample is so small that
// it has room for that, which costs the others of its group more than half of their keys.
const largestBytes = 512 << 10

// New makes one that takes about so many bytes, at least MinBytes, and no more later. share is of
// the time of one processor that it may take: the samples become smaller if it would be more.
func New(bytes int, share float64) *Simulation {
	start := time.Now()
	return NewTimed(bytes, share, func() time.Duration { return time.Since(start) })
}

// NewTimed is New with a stopwatch: the time since any moment.
func NewTimed(bytes int, share float64, stopwatch func() time.Duration) *Simulation {
	small, large := Factors[:3], append([]float64{1}, Factors[3:]...)
	bytes = max(bytes, MinBytes)
	if bytes < largestBytes {
		large = large[:len(large)-1]
	}
	s := &Simulation{
		groups: [2]*group{newGroup(small, bytes*smallGroup/100, false), newGroup(large, bytes-bytes*smallGroup/100, false)},
		room:   mostChange, wait: roomyVerdicts, budget: budget{share: share, stopwatch: stopwatch, cost: firstCost},
	}
	s.setMask()
	return s
}

// Bytes is the memory that it takes.
func (s *Simulation) Bytes() int64 {
	n := 0
	for _, g := range s.groups {
		n += g.bytesTaken()
	}
	return int64(n)
}

// Wants reports whether Read, Store and Delete are to be called for a key. It is a mask of few bits:
// of the keys for which it is true, not all are in a sample.
func (s *Simulation) Wants(hash uint64) bool { return (hash^hash>>32)&s.mask.Load() == 0 }

// Mask is the mask of Wants: 0 in all of these bits of hash ^ hash>>32. It changes with the
// samples, and is 0 if all keys are wanted.
func (s *Simulation) Mask() uint64 { return s.mask.Load() }

func (s *Simulation) setMask() {
	mask := s.groups[0].rate.mask() & s.groups[1].rate.mask()
	if mask != s.mask.Load() {
		s.mask.Store(mask)
	}
}

// Read is a request for a key. With found, the cache had it: a record of this size, in bytes, and
// deadline, 0 for none. Times are in milliseconds of the cache's clock.
func (s *Simulation) Read(hash uint64, found bool, size uint32, deadline, now int64) {
	s.note(newEvent(hash, size, deadline), now, read, found)
}

// Store is a write of a key, by whatever call. A cache that loads what it misses reports the read
// first.
func (s *Simulation) Store(hash uint64, size uint32, deadline, now int64) {
	s.note(newEvent(hash, size, deadline), now, store, false)
}

// Delete says that a key was deleted.
func (s *Simulation) Delete(hash uint64) {
	s.note(newEvent(hash, 0, 0), 0, del, false)
}

// action is what an event is.
type action uint8

const (
	read action = iota
	store
	del
)

// note passes an event to the groups that have its key in their samples.
func (s *Simulation) note(e event, now int64, a action, found bool) {
	if s.Waits {
		s.mu.Lock()
	} else if !s.mu.TryLock() {
		s.lost.Add(1)
		return
	}
	defer s.mu.Unlock()
	s.follow(now)
	if e.deadline != 0 && !s.expires {
		s.keepDeadlines()
	}
	timed, start := s.budget.count(), time.Duration(0)
	if timed {
		start = s.budget.stopwatch()
	}
	for _, g := range s.groups {
		if g.rate.has(e.hash) {
			g.now = s.now
			g.do(e, a, found)
		}
	}
	if timed {
		s.budget.took(s.budget.stopwatch() - start)
	}
	s.events++
	s.keepToBudget()
	s.setMask()
}

// follow lets the time be now, 0 if that is not known. Events are reported in a little
// disorder; what is further back is a clock that was set back, after which time passes again.
func (s *Simulation) follow(now int64) {
	if now > s.now || now != 0 && s.now-now > disorder {
		s.now = now
	}
}

const disorder = 10_000 // milliseconds

func (g *group) do(e event, a action, found bool) {
	switch a {
	case read:
		g.read(e, found)
	case store:
		g.store(e)
	case del:
		if i := g.table.find(e.hash); i != 0 {
			g.remove(i)
		}
	}
}

// keepToBudget makes the samples smaller if they take too much time.
func (s *Simulation) keepToBudget() {
	by := s.budget.factor(s.now)
	switch {
	case by == 0:
		return
	case by >= leastGrowth:
		s.roomy++
		s.room = min(s.room, by)
		return
	case by < relief:
		if s.grown { // for nothing: each time its sizes begin again
			s.wait, s.grown = min(2*s.wait, mostVerdicts), false
		}
		for _, g := range s.groups {
			g.resample(max(g.rate.share*by, s.leastShare(g)))
		}
	}
	s.roomy, s.room = 0, mostChange
}

// keepDeadlines begins again with samples whose keys have deadlines: about as much smaller as that takes
// memory.
func (s *Simulation) keepDeadlines() {
	s.expires = true
	for i, was := range s.groups {
		g := newGroup(was.factors(), was.memory, true)
		g.chosen, g.stored, g.storedBytes, g.window = was.chosen, was.stored, was.storedBytes, was.window
		if was.rate.share < 1 {
			g.setRate(was.rate.share * float64(g.table.room()) / float64(was.table.room()))
		}
		g.setBytes(was.bytes)
		s.groups[i] = g
	}
	s.restart()
}

// leastShare of the keys is in a group's sample, however long that takes: where callers wait, as many
// as give half of the present size a figure.
func (s *Simulation) leastShare(g *group) float64 {
	if s.Waits {
		return g.rate.share * min(4*fewKeys/float64(max(g.control.entries(), 1)), 1)
	}
	return 1.0 / (1 << 30)
}

// Clear says that all keys are gone.
func (s *Simulation) Clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, g := range s.groups {
		g.filter(func(uint16) bool { return false })
		for n := range g.sizes {
			g.sizes[n].restart()
		}
	}
	s.restart()
}

// next begins a window.
func (s *Simulation) next() {
	s.ring.next()
	for _, g := range s.groups {
		g.begin(s.ring.at())
	}
}

// restart forgets all windows: they were about another cache.
func (s *Simulation) restart() {
	s.next()
	s.ring.first = s.ring.number
}

// Sync notes how many bytes the cache has for records, whether it evicts to make room, and how
// many reads found something, and nothing, since it was opened. It is called now and then, and
// before Curve.
func (s *Simulation) Sync(bytes int64, evicting bool, hits, misses uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	real := missCount{max(float64(hits)-s.real.hits, 0), max(float64(misses)-s.real.misses, 0)}
	s.real.hits, s.real.misses = s.real.hits+real.hits, s.real.misses+real.misses // callers may overtake each other
	s.ring.count(real, s.passed())
	for _, g := range s.groups {
		g.now = s.now
		g.sync(real)
		g.weight = s.weight() / g.rate.share
	}
	s.resize(bytes)
	s.turn(evicting)
	s.evicting = evicting
	s.events, s.missed = 0, s.lost.Load()
	s.keepToBudget()
	s.grow()
	s.setMask()
}

// Choose says which setting the cache has chosen. A simulation with too little memory for tuners takes
// that at all sizes. It is called beside Sync.
func (s *Simulation) Choose(setting policy.Setting) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, g := range s.groups {
		g.chosen = setting
	}
}

// resize notes how many bytes the cache has for records. What was counted of a cache of another size is
// forgotten, and a larger one has to fill.
func (s *Simulation) resize(bytes int64) {
	by := float64(bytes) / float64(max(s.countedBytes, 1))
	another := by <= 1/sameBytes || by >= sameBytes
	if another {
		s.countedBytes = bytes
		s.restart()
	}
	for _, g := range s.groups {
		if another && by > 1 {
			for n := range g.sizes {
				g.sizes[n].restart()
			}
		}
		g.setBytes(bytes)
	}
}

// sameBytes is how many times as large a cache is the same one.
const sameBytes = 1.1

// turn begins a window when the present one has enough requests in both samples, and when a size has
// become warm while the cache evicts: from then on it counts.
func (s *Simulation) turn(evicting bool) {
	warmed, full := false, true
	for _, g := range s.groups {
		full = full && g.events[s.ring.at()] >= windowEvents*float64(g.table.room())
		for n := range g.sizes {
			if z := &g.sizes[n]; !z.warm && (z.full() || z.flow() >= 1) {
				z.warm, z.since = true, s.ring.first
				if evicting {
					z.since, warmed = s.ring.number+1, true
				}
			}
		}
	}
	if warmed || full {
		s.next()
	}
}

// windowEvents is how many requests a window has for each key that there is room for.
const windowEvents = 1

// passed is how many milliseconds there are between the last Sync and this.
func (s *Simulation) passed() float64 {
	was := s.synced
	s.synced = s.now
	if was == 0 || s.now <= was {
		return 0
	}
	return float64(s.now - was)
}

// weight is how many events there were for each that was not lost, lately.
func (s *Simulation) weight() float64 {
	if s.events == 0 {
		return 1
	}
	return 1 + float64(s.lost.Load()-s.missed)/s.events
}

// grow makes samples larger that have become small, when there is memory and time for it.
func (s *Simulation) grow() {
	if s.roomy < s.wait {
		return
	}
	small, large := s.groups[0], s.groups[1]
	if small.usage() > large.usage() {
		small, large = large, small
	}
	if small.growInto(s.room) || small.settled() && large.growInto(s.room) {
		s.roomy, s.room, s.grown = 0, mostChange, true
	}
}

const (
	// roomyVerdicts is how many verdicts in a row have found time for more before a sample grows; twice
	// as many each time that it grew for nothing, under a load that comes and goes, up to mostVerdicts:
	// some minutes.
	roomyVerdicts = 4
	mostVerdicts  = 1 << 10
	// leastGrowth is how much larger a sample has to become: until its sizes have filled again they say
	// nothing.
	leastGrowth = 4
)

// sync does what Sync says.
func (g *group) sync(real missCount) {
	g.sweep()
	g.real += real.misses
	if g.real*g.rate.share > missLife*float64(g.table.room()) {
		g.real /= 2
		for i := range g.sampled {
			g.sampled[i] /= 2
		}
	}
}

// missLife is after how many misses, for each key that there is room for, older ones weigh half.
const missLife = 8
