package ram

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/firncache/firn/internal/histogram"
)

// probe measures what a lookup in RAM takes, without a clock in the lookups themselves, which
// take little longer than its reading: now and then it looks keys up that were read of late,
// and takes the time of that.
//
// The keys are those of reads that the policy samples, of one key in 16 or more, so that
// the times are distributed as the requests are, as far as such a sample stands for them. The
// times are those of getRetried, which raises no frequency for it: a search in Go and not in
// assembly, of a key whose place in the caches of the processor is what others' reads have left. They are
// not the callers' own times, in which there are waits for a processor and for memory that many
// use at once. Nothing is copied before the first ReadTimes, and little after it.
type probe struct {
	credit atomic.Int32 // keys that may be noted until the next ReadTimes; 0 before the first
	full   atomic.Bool  // as many are kept as there is room for

	mu    sync.Mutex // a reader who does not get it notes nothing
	keys  []probeKey // the last that were noted, in a ring
	next  int
	noted int
	asked time.Time
	times histogram.Recorder

	now func() time.Duration // for tests: the time; nil: the process's
}

type probeKey struct {
	bytes [maxProbeKey]byte
	n     uint8
}

const (
	minProbed     = 1 << 20 // bytes of the budget; of a smaller one it would take too much
	maxProbeKey   = 64      // bytes; longer keys are not noted
	maxProbeKeys  = 64
	probeShare    = 1 << 16 // bytes of the budget for each key that is kept
	probeEvery    = 64      // sampled reads for each that is noted, once there are keys enough
	probesAtOnce  = 32
	probeCredit   = 512             // keys noted for each ReadTimes: the later ones stay
	probePause    = time.Second / 2 // between two that count: many cost no more than one
	probedBytes   = 16 << 10        // room for a value, at first
	clockReadings = 16
)

// newProbe makes that of a tier of so many bytes; a small one has none, nil.
func newProbe(tierBytes int64) *probe {
	if tierBytes < minProbed {
		return nil
	}
	p := &probe{keys: make([]probeKey, min(tierBytes/probeShare, maxProbeKeys))}
	p.times.Scale = histogram.Nanos
	return p
}

// size is its memory in bytes.
func (p *probe) size() int64 {
	if p == nil {
		return 0
	}
	return sizeOf[probe]() + int64(len(p.keys))*sizeOf[probeKey]()
}

// see notes the key of a hit.
func (p *probe) see(key []byte) {
	if p != nil && p.credit.Load() > 0 {
		p.seeSome(key)
	}
}

func (p *probe) seeSome(key []byte) {
	if p.full.Load() && rand.Uint32()%probeEvery != 0 || len(key) > maxProbeKey || !p.mu.TryLock() {
		return
	}
	defer p.mu.Unlock()
	k := &p.keys[p.next]
	k.n = uint8(copy(k.bytes[:], key))
	p.next = (p.next + 1) % len(p.keys)
	p.noted = min(p.noted+1, len(p.keys))
	p.full.Store(p.noted == len(p.keys))
	p.credit.Add(-1)
}

// take starts the noting of keys, and returns the last ones, unless it was called just before.
func (p *probe) take() (keys []probeKey) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Since(p.asked) < probePause {
		return nil
	}
	p.asked = time.Now()
	for i := range min(p.noted, probesAtOnce) {
		keys = append(keys, p.keys[(p.next-1-i+len(p.keys))%len(p.keys)])
	}
	p.credit.Store(probeCredit)
	return keys
}

// clear forgets the keys.
func (p *probe) clear() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(p.keys)
	p.next, p.noted = 0, 0
	p.full.Store(false)
	p.credit.Store(0)
}

// clockCost measures the cost of reading the clock itself.
func (p *probe) clockCost() time.Duration {
	cost := time.Hour
	for range clockReadings {
		began := p.clock()
		cost = min(cost, p.clock()-began)
	}
	return cost
}

// clock is the time since some moment.
func (p *probe) clock() time.Duration {
	if p.now != nil {
		return p.now()
	}
	return time.Since(processBegan)
}

var processBegan = time.Now()

// readKeys notes the keys of reads that find something, whichever they are, up to a number: the tuner reports
// every key then. It does nothing before a call of ReadKeys, and no more than one burst after the last.
type readKeys struct {
	left atomic.Int32 // keys that may be noted

	mu   sync.Mutex
	keys [][]byte
}

const (
	maxReadKeys = 256 // keys noted for a call
	maxReadKey  = 256 // bytes; longer keys are not noted
)
