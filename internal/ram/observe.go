package ram

import (
	"bytes"
	"math"

	"github.com/firncache/firn/internal/policy/whatif"
	"github.com/firncache/firn/internal/record"
)

// simulated reports whether a simulation wants the requests for a key. It is the
// test that getFast makes before it counts a miss.
func (t *Tier) simulated(hash uint64) bool { return (hash^hash>>32)&t.simulatedMask.Load() == 0 }

// observeMiss passes on a read that found nothing.
func (t *Tier) observeMiss(hash uint64) {
	if t.simulated(hash) {
		t.simulateMiss(hash)
	}
}

// observeStore passes on a record that was stored.
func (t *Tier) observeStore(hash uint64, keyLen, valueLen int, deadline int64) {
	if t.simulated(hash) {
		t.simulateStore(hash, keyLen, valueLen, deadline)
	}
}

// observeDelete passes on a key that was removed.
func (t *Tier) observeDelete(hash uint64) {
	if t.simulated(hash) {
		t.simulateDelete(hash)
	}
}

// ObserveLower passes on a read that was a miss here, and what the lower tier answered.
func (t *Tier) ObserveLower(hash uint64, found bool, keyLen, valueLen int, deadline int64) {
	if both := t.simulations.both; both != nil && t.simulated(hash) {
		both.Read(hash, found, t.simulatedSize(keyLen, valueLen, deadline), deadline, t.clock.now())
		t.observedOne()
	}
}

// simulateHit passes on a read that found a record with this deadline, before that moved.
func (t *Tier) simulateHit(hash uint64, keyLen, valueLen int, deadline int64) {
	deadline, _ = t.Slide(deadline)
	size, now := t.simulatedSize(keyLen, valueLen, deadline), t.clock.now()
	t.eachSimulation(hash, func(s *whatif.Simulation) { s.Read(hash, true, size, deadline, now) })
}

//go:noinline
func (t *Tier) simulateMiss(hash uint64) {
	if own := t.simulations.own; own != nil { // both gets what the lower tier answers
		own.Read(hash, false, 0, 0, t.clock.now())
		t.observedOne()
	}
}

// simulateStore passes on a record that was stored. A negative entry is none: all reads that are
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

// simulatePromotion passes on a record that came back from the lower tier. To both tiers as one
// that is nothing new.
func (t *Tier) simulatePromotion(r *newRecord) {
	if own := t.simulations.own; own != nil && t.simulated(r.hash) {
		own.Store(r.hash, t.simulatedSize(len(r.key), len(r.value), r.deadline), r.deadline, t.clock.now())
		t.observedOne()
	}
}

// simulateClear empties the simulations.
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

// eachSimulation calls observe for the simulations that sample a key.
func (t *Tier) eachSimulation(hash uint64, observe func(*whatif.Simulation)) {
	for _, s := range t.simulations.each() {
		if s != nil && s.Wants(hash) {
			observe(s)
		}
	}
	t.observedOne()
}

// simulatedSize is what a record takes, with its part of the index.
func (t *Tier) simulatedSize(keyLen, valueLen int, deadline int64) uint32 {
	return uint32(min(t.roundUp(record.Size(keyLen, valueLen, deadline != 0))+indexedBytes, math.MaxUint32))
}

// observedOne is called when a simulation got a request: it may want other keys now, and gets the
// state of the tier now and then.
func (t *Tier) observedOne() {
	if mask := t.simulations.mask(); mask != t.simulatedMask.Load() {
		t.wantSimulated(mask)
	}
	if t.simulations.requests.Add(1)%syncEvery == 1 { // the first one, too
		t.syncSimulations()
	}
}

// wantSimulated sets the mask of the keys whose requests are passed on. Two calls at once may
// leave either mask: the next request corrects that.
func (t *Tier) wantSimulated(mask uint64) {
	t.simulatedMask.Store(mask)
	t.tuner.Share(mask)
}

// syncSimulations gives the simulations the state and the counts of the tiers.
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
// hold, without those that are kept for reclaiming, those that are being filled, and the rests
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

// ReadKeys returns the keys of some reads that RAM answered since the last call, in a row, and has the next ones noted.
func (t *Tier) ReadKeys() [][]byte {
	r := &t.readKeys
	r.mu.Lock()
	keys := r.keys
	r.keys = nil
	r.left.Store(maxReadKeys)
	r.mu.Unlock()
	t.tuner.Share(0)
	return keys
}

// seeRead notes the key of a read that has found something. The caller holds no lock.
func (t *Tier) seeRead(key []byte) {
	r := &t.readKeys
	if r.left.Load() <= 0 || len(key) > maxReadKey {
		return
	}
	r.mu.Lock()
	if r.left.Load() > 0 {
		r.keys = append(r.keys, bytes.Clone(key))
		r.left.Add(-1)
	}
	enough := r.left.Load() == 0
	r.mu.Unlock()
	if enough {
		t.tuner.Share(t.simulatedMask.Load())
	}
}
