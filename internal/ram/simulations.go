package ram

import (
	"math"
	"sync/atomic"

	"github.com/firncache/firn/internal/policy/whatif"
	"github.com/firncache/firn/internal/record"
)

// simulations are told of the requests for some keys, and say what the cache would do at other
// sizes. They are told by whoever made the request, when it has had its effect and no lock is
// held. What a shard does by itself they are not told of: they evict and expire for themselves.
type simulations struct {
	own   *whatif.Simulation // of this tier; nil: none
	both  *whatif.Simulation // of this tier and the lower one as one cache; nil: none
	apart bool               // from the budget
	told  atomic.Uint32      // requests
}

// SimulatedLower is a LowerTier that tells a simulation of both tiers what it must know.
type SimulatedLower interface {
	LowerTier

	// Room is how many bytes of records it has room for, whether it has begun to evict for
	// want of it, and how many reads it has answered. It is called with no lock held.
	Room() (bytes int64, evicting bool, hits uint64)
}

// Simulation is what all simulations of a tier may take together.
type Simulation struct {
	Bytes     int64   // of memory, about; 0: there are none
	Replay    bool    // the memory is no part of the budget, and no request is lost: callers wait
	Processor float64 // share of one
}

const (
	simulationShare = 100     // simulations of a service take 1/simulationShare of the budget
	maxSimulations  = 1 << 20 // bytes, at most
	processorShare  = .01
	indexedBytes    = 11      // of the index and what belongs to it, for each record: see package plan
	syncEvery       = 1 << 10 // requests
)

// ServiceSimulation is that of a service with a budget of so many bytes: none in a small one.
func ServiceSimulation(budget int64) Simulation {
	if n := min(budget/simulationShare, maxSimulations); n >= whatif.MinBytes {
		return Simulation{Bytes: n, Processor: processorShare}
	}
	return Simulation{}
}

// ReplaySimulation is that of a replay, which has memory and time to spare, and is short.
func ReplaySimulation() Simulation {
	return Simulation{Bytes: 4 << 20, Replay: true, Processor: .1}
}

// init makes the simulations. With too few bytes for two, there is one of this tier alone.
func (s *simulations) init(cfg Simulation, lower LowerTier) {
	n, share := cfg.Bytes, cfg.Processor
	_, two := lower.(SimulatedLower)
	if two = two && n/2 >= whatif.MinBytes; two {
		n, share = n/2, share/2
	}
	if n < whatif.MinBytes {
		return
	}
	s.own, s.apart = whatif.New(int(n), share), cfg.Replay
	s.own.Waits = cfg.Replay
	if two {
		s.both = whatif.New(int(n), share)
		s.both.Waits = cfg.Replay
	}
}

// bytes is what they take of the budget.
func (s *simulations) bytes() (n int64) {
	if s.apart {
		return 0
	}
	for _, sim := range s.each() {
		if sim != nil {
			n += sim.Bytes()
		}
	}
	return n
}

// each are the simulations, nil where there is none.
func (s *simulations) each() [2]*whatif.Simulation { return [...]*whatif.Simulation{s.own, s.both} }

// mask has the bits of hash ^ hash>>32 that are 0 in all keys that a simulation wants.
func (s *simulations) mask() uint64 {
	mask := uint64(math.MaxUint64)
	for _, sim := range s.each() {
		if sim != nil {
			mask &= sim.Mask()
		}
	}
	return mask
}

// simulated reports whether a simulation wants to be told of the requests for a key. It is the
// test that getFast makes before it counts a miss.
func (t *Tier) simulated(hash uint64) bool { return (hash^hash>>32)&t.simulatedMask.Load() == 0 }

// tellMiss tells of a read that found nothing.
func (t *Tier) tellMiss(hash uint64) {
	if t.simulated(hash) {
		t.simulateMiss(hash)
	}
}

// tellStore tells of a record that was stored with success.
func (t *Tier) tellStore(hash uint64, keyLen, valueLen int, deadline int64) {
	if t.simulated(hash) {
		t.simulateStore(hash, keyLen, valueLen, deadline)
	}
}

// tellDelete tells of a key that was removed.
func (t *Tier) tellDelete(hash uint64) {
	if t.simulated(hash) {
		t.simulateDelete(hash)
	}
}

// TellLower tells of a read that was a miss here, and of what the lower tier answered.
func (t *Tier) TellLower(hash uint64, found bool, keyLen, valueLen int, deadline int64) {
	if both := t.simulations.both; both != nil && t.simulated(hash) {
		both.Read(hash, found, t.simulatedSize(keyLen, valueLen, deadline), deadline, t.clock.now())
		t.toldOne()
	}
}

// simulateHit tells of a read that found a record with this deadline, before that moved.
func (t *Tier) simulateHit(hash uint64, keyLen, valueLen int, deadline int64) {
	deadline, _ = t.Slide(deadline)
	size, now := t.simulatedSize(keyLen, valueLen, deadline), t.clock.now()
	t.eachSimulation(hash, func(s *whatif.Simulation) { s.Read(hash, true, size, deadline, now) })
}

//go:noinline
func (t *Tier) simulateMiss(hash uint64) {
	if own := t.simulations.own; own != nil { // both is told what the lower tier answers
		own.Read(hash, false, 0, 0, t.clock.now())
		t.toldOne()
	}
}

// simulateStore tells of a record that was stored. A negative entry is none: all reads that are
// counted miss it.
//
//go:noinline
func (t *Tier) simulateStore(hash uint64, keyLen, valueLen int, deadline int64) {
	if deadline < 0 {
		t.simulateDelete(hash)
		return
	}
	size, now := t.simulatedSize(keyLen, valueLen, deadline), t.clock.now()
	t.eachSimulation(hash, func(s *whatif.Simulation) { s.Store(hash, size, deadline, now) })
}

// simulatePromotion tells of a record that came back from the lower tier. To both tiers as one
// that is nothing new.
func (t *Tier) simulatePromotion(r *newRecord) {
	if own := t.simulations.own; own != nil && t.simulated(r.hash) {
		own.Store(r.hash, t.simulatedSize(len(r.key), len(r.value), r.deadline), r.deadline, t.clock.now())
		t.toldOne()
	}
}

// simulateClear tells that nothing is left.
func (t *Tier) simulateClear() {
	for _, s := range t.simulations.each() {
		if s != nil {
			s.Clear()
		}
	}
}

//go:noinline
func (t *Tier) simulateDelete(hash uint64) {
	t.eachSimulation(hash, func(s *whatif.Simulation) { s.Delete(hash) })
}

// eachSimulation tells those that want to know of a key.
func (t *Tier) eachSimulation(hash uint64, tell func(*whatif.Simulation)) {
	for _, s := range t.simulations.each() {
		if s != nil && s.Wants(hash) {
			tell(s)
		}
	}
	t.toldOne()
}

// simulatedSize is what a record takes, with its part of the index.
func (t *Tier) simulatedSize(keyLen, valueLen int, deadline int64) uint32 {
	return uint32(min(t.roundUp(record.Size(keyLen, valueLen, deadline != 0))+indexedBytes, math.MaxUint32))
}

// toldOne is called when a simulation was told of a request: it may want other keys now, and has
// to know now and then what the tier does.
func (t *Tier) toldOne() {
	if mask := t.simulations.mask(); mask != t.simulatedMask.Load() {
		t.wantSimulated(mask)
	}
	if t.simulations.told.Add(1)%syncEvery == 1 { // the first one, too
		t.syncSimulations()
	}
}

// wantSimulated has the tier tell of the keys that a mask has. Two calls at once may leave
// either mask: the next request that is told of finds out.
func (t *Tier) wantSimulated(mask uint64) {
	t.simulatedMask.Store(mask)
	t.tuner.Share(mask)
}

// syncSimulations tells the simulations what the tiers are and have done.
func (t *Tier) syncSimulations() {
	own, both := t.simulations.own, t.simulations.both
	if own == nil {
		return
	}
	hits, misses := t.reads.sum()
	room, setting := t.recordRoom(), t.tuner.Setting()
	own.Choose(setting)
	own.Sync(room, t.full.Load(), hits, misses)
	if both == nil {
		return
	}
	below, evicting, answered := t.lower.(SimulatedLower).Room()
	answered = min(answered, misses)
	both.Choose(setting)
	both.Sync(room+below, evicting, hits+answered, misses-answered)
}

// recordRoom is how many bytes of records, and of the index, there is room for: what segments
// hold, but for those that are kept for reclaiming, those that are being filled, and the rests
// of segments where no record fits.
func (t *Tier) recordRoom() int64 {
	t.pool.Lock()
	segments := t.pool.ForWrites() - len(t.shards)
	t.pool.Unlock()
	each := int64(t.segSize())
	if mean := int64(t.meanRecordBytes.Load()); mean < each/padBelow {
		each -= mean / 2
	}
	return int64(max(segments, 1)) * each
}

// Figures are the budget in bytes, and how many reads found something, and nothing: see
// readCounters.
func (t *Tier) Figures() (bytes int64, hits, misses uint64) {
	hits, misses = t.reads.sum()
	return t.bytes.Load(), hits, misses
}

// Simulated says what the tier would do at other sizes, and what both tiers would as one cache.
// It reports false for what is not simulated.
func (t *Tier) Simulated() (own, both whatif.Curve, hasOwn, hasBoth bool) {
	t.syncSimulations()
	if s := t.simulations.own; s != nil {
		own, hasOwn = s.Curve(), true
	}
	if s := t.simulations.both; s != nil {
		both, hasBoth = s.Curve(), true
	}
	return own, both, hasOwn, hasBoth
}
