package policy

import (
	"math"
	"sync"
	"sync/atomic"
)

// Tuner chooses a cache's setting by the hits of its shadows. It is safe for
// concurrent use; a read of the cache only asks [Tuner.Sampled] and, for a few
// keys, calls [Tuner.Hit], which takes no lock.
type Tuner struct {
	current atomic.Uint32 // the setting that holds, an index into settings
	mask    atomic.Uint64 // a key is sampled if its spread hash has none of these bits
	recent  ring

	mu       sync.Mutex
	size     int // keys that a shadow can hold
	shadows  [len(settings)]*shadow
	shift    uint // one key in 1<<shift is sampled
	capacity int  // keys that a shadow holds; 0 while the cache fills
	pending  int  // requests since the last choice
	changes  uint64
}

const (
	maxShift   = 40 // not even colliding hashes make the rate smaller
	minShadow  = 16
	maxShadow  = 512
	minCache   = 64 << 10 // bytes; below, shadows would cost more than they bring
	tunerShare = 200      // the shadows may take 1/tunerShare of the cache
	// shadowKeyBytes is the cost of one key of size, in all shadows and the ring.
	shadowKeyBytes = len(settings)*(slotBytes+2*2+ghostsPerEntry*GhostBytes) + 8

	halfLife = 16 // of hit counts, in turns: as many requests as a shadow holds keys
	choices  = 16 // per turn
)

// NewTuner makes the tuner of a cache of so many bytes. It takes half a percent
// of them, at least 2 KiB and at most 64 KiB. A cache below 64 KiB has no
// shadows and stays with the first setting.
func NewTuner(cacheBytes int64) *Tuner {
	t := &Tuner{}
	if cacheBytes < minCache {
		t.mask.Store(math.MaxUint64)
		return t
	}
	t.size = int(min(max(cacheBytes/tunerShare/int64(shadowKeyBytes), minShadow), maxShadow))
	t.recent.places = make([]atomic.Uint64, t.size)
	for i, setting := range settings {
		t.shadows[i] = newShadow(setting, t.size)
	}
	return t
}

// Bytes is the memory that the tuner takes, all of it on the Go heap and
// without pointers for the collector to follow.
func (t *Tuner) Bytes() int64 { return int64(t.size * shadowKeyBytes) }

// Setting is the setting that holds now.
func (t *Tuner) Setting() Setting { return settings[t.current.Load()] }

// Changes counts how often the setting changed.
func (t *Tuner) Changes() uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.changes
}

// Sampled tells whether the requests of a key are to be reported.
func (t *Tuner) Sampled(hash uint64) bool { return spread(hash)&t.mask.Load() == 0 }

// Spread is the factor of (hash ^ hash>>32), for code in assembly that
// does the work of Sampled.
const Spread = 0x9E3779B97F4A7C15

// Hit reports a read that found its key, for a key that is sampled. Some
// reports are lost when many come between two inserts.
func (t *Tuner) Hit(hash uint64) {
	if t.size > 0 {
		t.recent.add(hash)
	}
}

// Insert reports that a key, sampled, was absent and is being stored. entries
// is the number of records in the cache, and filling says that nothing has
// been evicted for want of space yet.
func (t *Tuner) Insert(hash uint64, entries int64, filling bool) {
	if t.size == 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.fit(entries, filling)
	t.recent.drain(func(h uint64) { t.request(h, filling) })
	t.request(hash, filling)
}

// request lets the shadows see a request, and chooses now and then.
func (t *Tuner) request(hash uint64, filling bool) {
	if !t.Sampled(hash) {
		return // sampled before the last change of the rate
	}
	for _, s := range t.shadows {
		if s.access(hash, t.capacity, filling) {
			s.hits++
		}
	}
	if t.pending++; t.pending >= max(t.capacity/choices, 4) && !filling {
		t.pending = 0
		t.choose()
	}
}

// choose takes the setting with the most hits, if it leads by more than one.
func (t *Tuner) choose() {
	now := t.current.Load()
	best := now
	for i, s := range t.shadows {
		if s.hits > t.shadows[best].hits {
			best = uint32(i)
		}
	}
	if t.shadows[best].hits > t.shadows[now].hits+1 {
		t.current.Store(best)
		t.changes++
	}
	for _, s := range t.shadows {
		s.hits *= decay
	}
}

// decay is applied to the hit counts at each choice.
var decay = math.Exp2(-1.0 / (choices * halfLife))

// fit makes the sampling rate such that the shadows are to the sample what the
// cache is to all keys, and not larger than their memory.
func (t *Tuner) fit(entries int64, filling bool) {
	for t.shift < maxShift && (entries>>t.shift > int64(t.size) || filling && t.shadows[0].free == 0) {
		t.resample(t.shift + 1)
	}
	if t.shift > 0 && entries>>t.shift < int64(t.size/4) && !filling {
		t.resample(t.shift - 1)
	}
	t.capacity = max(int(entries>>t.shift), 1)
}

func (t *Tuner) resample(shift uint) {
	t.shift = shift
	t.mask.Store(1<<shift - 1)
	for _, s := range t.shadows {
		s.filter(t.Sampled)
	}
}
