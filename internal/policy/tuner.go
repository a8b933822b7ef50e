package policy

import (
	"math"
	"sync"
	"sync/atomic"
)

// Tuner chooses a cache's plan by what its shadows hit. It is safe for
// concurrent use; a read of the cache only asks [Tuner.Sampled] and, for a few
// keys, calls [Tuner.Hit], which takes no lock.
type Tuner struct {
	current atomic.Uint32 // the plan that holds, an index into plans
	mask    atomic.Uint64 // a key is sampled if its spread hash has none of these bits
	recent  ring

	mu       sync.Mutex
	size     int // keys that a shadow can hold
	shadows  [len(plans)]*shadow
	shift    uint // one key in 1<<shift is sampled
	capacity int  // keys that a shadow holds; 0 while the cache fills
	requests int  // since the last choice
	changes  uint64
}

const (
	minShadow = 16
	maxShadow = 512
	// shadowKeyBytes is what one key of size costs in all shadows together.
	shadowKeyBytes = len(plans) * (16 + 1 + 2*2 + ghostsPerEntry*GhostBytes)

	halfLife = 8.0  // of hit counts, in requests for as many keys as a shadow holds
	margin   = 0.01 // by which another plan must be better
)

// NewTuner makes the tuner of a cache of so many bytes. It takes at most one
// percent of them, but no less than 2 KiB; Bytes tells.
func NewTuner(cacheBytes int64) *Tuner {
	t := &Tuner{size: int(min(max(cacheBytes/100/int64(shadowKeyBytes), minShadow), maxShadow))}
	t.recent.places = make([]atomic.Uint64, t.size)
	for i, plan := range plans {
		t.shadows[i] = newShadow(plan, t.size)
	}
	return t
}

// Bytes is the memory that the tuner takes, all of it on the Go heap and
// without pointers for the collector to follow.
func (t *Tuner) Bytes() int64 { return int64(t.size * (shadowKeyBytes + 8)) }

// Plan is the plan that holds now.
func (t *Tuner) Plan() Plan { return plans[t.current.Load()] }

// Changes counts how often the plan changed.
func (t *Tuner) Changes() uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.changes
}

// Sampled tells whether the requests of a key are to be reported.
func (t *Tuner) Sampled(hash uint64) bool { return spread(hash)&t.mask.Load() == 0 }

// Hit reports a read that found its key, for a key that is sampled. Some
// reports are lost when many come between two inserts.
func (t *Tuner) Hit(hash uint64) { t.recent.add(hash) }

// Insert reports that a key, sampled, was absent and is being stored. entries
// is the number of records in the cache, and filling says that nothing has
// been evicted for want of space yet.
func (t *Tuner) Insert(hash uint64, entries int64, filling bool) {
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
	if t.requests++; t.requests >= max(t.capacity/4, 8) && !filling {
		t.requests = 0
		t.choose()
	}
}

// choose takes the plan with the most hits if it is better by the margin.
func (t *Tuner) choose() {
	now := t.current.Load()
	best := now
	for i, s := range t.shadows {
		if s.hits > t.shadows[best].hits {
			best = uint32(i)
		}
	}
	if t.shadows[best].hits > t.shadows[now].hits*(1+margin)+1 {
		t.current.Store(best)
		t.changes++
	}
	for _, s := range t.shadows {
		s.hits *= decay
	}
}

// decay is applied at each choice, four times in as many requests as a shadow
// has keys.
var decay = math.Exp2(-1 / (4 * halfLife))

// fit makes the sampling rate such that the shadows are to the sample what the
// cache is to all keys, and not larger than their memory.
func (t *Tuner) fit(entries int64, filling bool) {
	for entries>>t.shift > int64(t.size) || filling && t.shadows[0].free == 0 {
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
