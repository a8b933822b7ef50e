package policy

import (
	"math"
	"reflect"
	"sync"
	"sync/atomic"
)

// Tuner chooses a cache's setting by the hits of its shadows. It is safe for
// concurrent use; a read of the cache only calls [Tuner.Sampled] and, for one key in
// 16 at most, calls [Tuner.Hit], which takes no lock.
//
// Some dozens of keys stand for a cache. One that is so small that a 16th part of its
// keys are fewer has more in its sample, and the shadows see the reads of these late: when
// a record is drained, by its frequency.
type Tuner struct {
	current atomic.Uint32 // the setting that holds, an index into settings
	mask    atomic.Uint64 // see Sampled: reads is part of it
	sample  atomic.Uint64 // see inSample
	reads   atomic.Uint64 // of the keys whose reads the shadows see at once: the sample's mask, but at least readMask
	size    int           // keys that a shadow can hold; 0 without shadows
	recent  ring          // what lies above its counters is seldom written, and read by all

	mu       sync.Mutex
	shadows  [len(settings)]*shadow
	shift    uint // one key in 1<<shift is in the sample
	capacity int  // keys that a shadow holds; 0 while the cache fills
	pending  int  // requests since the last choice
	changes  uint64
	others   uint64 // mask of the keys whose reads are reported elsewhere too
}

const (
	readShift = 4 // reads of one key in 1<<readShift are reported, at most
	readMask  = 1<<readShift - 1

	maxShift   = 40 // not even colliding hashes make the rate smaller
	minShadow  = 16
	maxShadow  = 512
	plenty     = 128      // keys, at most, in a sample of more than one in 1<<readShift
	minCache   = 64 << 10 // bytes; below, shadows would cost more than they bring
	tunerShare = 200      // the shadows may take 1/tunerShare of the cache
	// TunerKeyBytes is the cost of one key of size, in all shadows and the ring.
	TunerKeyBytes = len(settings)*(slotBytes+2*2+ghostsPerEntry*GhostBytes) + 8

	halfLife = 16 // of hit counts, in turns: as many requests as a shadow holds keys
	choices  = 16 // per turn
)

// NewTuner makes the tuner of a cache of so many bytes. It takes half a percent
// of them, at least 2 KiB and at most 64 KiB. A cache below 64 KiB has no
// shadows and stays with the first setting.
func NewTuner(cacheBytes int64) *Tuner {
	t := &Tuner{}
	t.others = math.MaxUint64
	if cacheBytes < minCache {
		t.setMasks(math.MaxUint64)
		return t
	}
	t.setMasks(0)
	t.init(int(min(max(cacheBytes/tunerShare/int64(TunerKeyBytes), minShadow), maxShadow)))
	return t
}

// NewTunerOfKeys makes a tuner whose shadows hold so many keys. With none it stays with the first
// setting.
func NewTunerOfKeys(keys int) *Tuner {
	t := &Tuner{others: math.MaxUint64}
	if keys <= 0 {
		t.setMasks(math.MaxUint64)
		return t
	}
	t.setMasks(0)
	t.init(keys)
	return t
}

func (t *Tuner) init(keys int) {
	t.size = keys
	t.recent.places = make([]atomic.Uint64, t.size)
	for i, setting := range settings {
		t.shadows[i] = newShadow(setting, t.size)
	}
}

// FixedBytes is the memory that it takes whatever it holds.
func (t *Tuner) FixedBytes() int64 {
	n := reflect.TypeFor[Tuner]().Size()
	if t.size > 0 {
		n += uintptr(len(settings)) * reflect.TypeFor[shadow]().Size()
	}
	return int64(n)
}

// Bytes is the memory that the tuner takes for keys, all of it on the Go heap and
// without pointers for the collector to follow.
func (t *Tuner) Bytes() int64 { return int64(t.size * TunerKeyBytes) }

// Setting is the setting that holds now.
func (t *Tuner) Setting() Setting { return settings[t.current.Load()] }

// Changes counts how often the setting changed.
func (t *Tuner) Changes() uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.changes
}

// Sampled reports whether the reads of a key are to be reported, to Hit and to whom [Tuner.Share]
// was called for.
//
// The masks cover the lowest bits, so keys are chosen by bits of their hash that are
// equal to those 32 places further up. Thereby shards (from bit 48), buckets of the
// index (the lower half) and tags (from bit 32) have equal parts of the sample.
func (t *Tuner) Sampled(hash uint64) bool { return (hash^hash>>32)&t.mask.Load() == 0 }

// inSample reports whether the shadows are to see the requests of a key. It holds for
// all keys that are [Tuner.Sampled].
func (t *Tuner) inSample(hash uint64) bool { return (hash^hash>>32)&t.sample.Load() == 0 }

// Hit reports a read that found its key, for a key that is sampled. Some reports are
// lost when many come between two inserts.
func (t *Tuner) Hit(hash uint64) {
	if t.size > 0 && t.seesReads(hash) {
		t.recent.add(hash)
	}
}

// seesReads reports whether Hit is of consequence for a key.
func (t *Tuner) seesReads(hash uint64) bool { return (hash^hash>>32)&t.reads.Load() == 0 }

// Share makes Sampled true also of the keys of a mask, whose reads are reported elsewhere too.
func (t *Tuner) Share(mask uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.others = mask
	t.mask.Store(t.reads.Load() & mask)
}

// Insert reports that a key was absent and is being stored. entries is the number of
// records in the cache, and filling says that nothing has been evicted for lack of
// space yet.
func (t *Tuner) Insert(hash uint64, entries int64, filling bool) {
	if t.size == 0 || !t.inSample(hash) {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.fit(entries, filling)
	t.recent.drain(func(h uint64) { t.request(h, 1, filling) })
	t.request(hash, 1, filling)
}

// Request reports a request for a key, present or being stored, in place of Hit and Insert, to
// a caller who has the time to let the shadows see it at once.
func (t *Tuner) Request(hash uint64, entries int64, filling, present bool) {
	if t.size == 0 || !t.inSample(hash) {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !present {
		t.fit(entries, filling)
	}
	t.request(hash, 1, filling)
}

// Drained reports a record at its lane's tail, before [Setting.Next] decides about it:
// its frequency stands for the reads of a key in the sample that Hit does not see.
func (t *Tuner) Drained(hash uint64, frequency uint8) {
	if frequency == 0 || t.size == 0 || !t.inSample(hash) || t.seesReads(hash) {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for range frequency {
		t.request(hash, lateWeight, false)
	}
}

// lateWeight is what a hit counts that the shadows see late. A record that goes round in
// its lane keeps some of its frequency, so that part of it is reported twice.
const lateWeight = 0.5

// request lets the shadows see a request, whose hits count weight, and chooses now
// and then.
func (t *Tuner) request(hash uint64, weight float64, filling bool) {
	if !t.inSample(hash) {
		return // it was before the last change of the rate
	}
	for _, s := range t.shadows {
		if s.access(hash, t.capacity, filling) {
			s.hits += weight
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
	for t.shift < maxShift && (entries>>t.shift > t.most(t.shift) || filling && t.shadows[0].free == 0) {
		t.resample(t.shift + 1)
	}
	if t.shift > 0 && entries>>t.shift < t.most(t.shift-1)/4 && !filling {
		t.resample(t.shift - 1)
	}
	t.capacity = max(int(entries>>t.shift), 1)
}

// most is how many keys a sample of one in 1<<shift has at most.
func (t *Tuner) most(shift uint) int64 {
	if shift < readShift {
		return int64(min(t.size, plenty))
	}
	return int64(t.size)
}

func (t *Tuner) resample(shift uint) {
	t.shift = shift
	t.setMasks(1<<shift - 1)
	for _, s := range t.shadows {
		s.filter(t.inSample)
	}
}

func (t *Tuner) setMasks(sample uint64) {
	t.sample.Store(sample)
	t.reads.Store(sample | readMask)
	t.mask.Store((sample | readMask) & t.others)
}
