package ram

import (
	"errors"
	"fmt"
	"math/bits"
	"os"
	"sync"
	"sync/atomic"

	"github.com/firncache/firn/internal/index"
	"github.com/firncache/firn/internal/offheap"
	"github.com/firncache/firn/internal/policy"
	"github.com/firncache/firn/internal/record"
)

// Config says what a tier is to be.
type Config struct {
	Bytes    int64        // budget for records, index and bookkeeping, at least MinBytes
	MaxBytes int64        // the most that SetBytes may ask for; 0: as much as the system lets reserve at no cost
	Seed     uint64       // of the key hash and of sampling
	Now      func() int64 // the time in milliseconds, above 0; nil: the process's, see package clock
	Grace    int64        // how long records are kept after their deadlines, for PeekStale, in milliseconds
	Ticking  bool         // a coarse copy of Now is kept; false: every deadline is compared with Now itself

	// Evicted, if set, is told of every record that leaves: no lock is held,
	// and the slices are lent until it returns.
	Evicted func(key, value []byte, cause Cause)

	Below Below // the tier underneath; nil: none

	HashMask uint64 // for tests: bits of the hash that are kept; 0 keeps all
	PageSize int    // for tests: of memory, a power of two; 0: the system's

	Reserve func(size uint64) (*offheap.Region, error) // for tests; nil: offheap.Reserve
}

// ErrAddressSpace is what New fails with if the system does not give the address
// space that the tier asks for.
var ErrAddressSpace = errors.New("no address space")

// Tier is a byte cache in memory that the collector does not see. All methods
// are safe for concurrent use, Free excepted.
type Tier struct {
	region     *offheap.Region
	hasher     record.Hasher
	hashMask   uint64
	shards     []shard
	shardShift uint // hash >> shardShift & shardMask is the shard's number
	shardMask  uint64
	unitShift  uint // location << unitShift is the offset in the region
	segShift   uint // log2 of the segment size
	reads      readCounters
	usual      atomic.Uint64 // bytes that a record usually takes: the mean of one shard, now and then
	clock      times
	grace      int64

	segs      []segment
	pool      pool
	tuner     *policy.Tuner
	full      atomic.Bool // something was evicted for want of room
	large     sync.Mutex  // held while gathering several segments for one record
	evicted   func(key, value []byte, cause Cause)
	below     Below
	inParts   BelowInParts // below, if it takes long records; nil: it does not
	atOnce    int          // its AtOnce; more than any record has if it is nil
	overhead  atomic.Int64 // bytes of bookkeeping outside the segments
	lent      atomic.Int64 // bytes of the budget that the tier below uses: see Charge
	ghostAt   uint64       // where the shards' ghosts lie in the region
	ghostMax  uint64       // bytes of each shard's, at most
	ghostless int          // shards that have yet to get theirs; the pool's lock guards it
	chunksAt  uint64       // where the shards' lists of index chunks lie
	maxChunks uint64       // length of each
	bytes     atomic.Int64
	maxRecord atomic.Int64
	resizing  sync.Mutex // held while bytes or lent change
	closed    atomic.Bool
	janitor   janitor

	spareScratch atomic.Pointer[[]byte] // see takeScratch

	ahead    int    // segments that are to be free when a write needs one: see reclaimAhead
	walkMost int    // records in a step of a walk, at most: walkRecords, or fewer in tests
	between  func() // for tests: called between two steps of a drain; nil: nothing
}

// New makes a tier.
func New(cfg Config) (*Tier, error) {
	if cfg.Bytes < MinBytes {
		return nil, fmt.Errorf("ram: %d bytes: want at least %d", cfg.Bytes, MinBytes)
	}
	if cfg.Grace < 0 {
		return nil, fmt.Errorf("ram: grace of %d ms: want at least 0", cfg.Grace)
	}
	g := plan(cfg.Bytes, cfg.MaxBytes)
	t := unreserved(&cfg, g)
	if cfg.HashMask != 0 {
		t.hashMask = cfg.HashMask
	}
	t.janitor.quit = make(chan struct{})
	t.clock = newTimes(cfg.Now, cfg.Ticking)
	if cfg.PageSize == 0 {
		cfg.PageSize = os.Getpagesize()
	}
	perPage := max(1, cfg.PageSize>>g.segShift)
	err := t.reserve(g, &cfg, perPage)
	if err != nil && cfg.MaxBytes == 0 { // the system counts what is reserved, or limits it
		g.maxSegments = plan(cfg.Bytes, cfg.Bytes).maxSegments
		err = t.reserve(g, &cfg, perPage)
	}
	if err != nil {
		return nil, fmt.Errorf("ram: %w: %w", ErrAddressSpace, err)
	}
	t.pool.init(t.segs, uint32(perPage))
	if least := t.minBytes(); cfg.Bytes < least {
		_ = t.region.Release()
		return nil, fmt.Errorf("ram: %d bytes: want at least %d", cfg.Bytes, least)
	}
	for i := range t.shards {
		t.shards[i].init(t, uint32(i+1))
	}
	if cfg.Bytes >= hugeFrom && t.region.Mapped() {
		t.pool.wake = make(chan struct{}, 1)
		t.pool.wakePrefaulter()
		go t.runPrefaulter()
	}
	return t, nil
}

// unreserved is a tier without memory for records.
func unreserved(cfg *Config, g geometry) *Tier {
	t := &Tier{
		hasher:   record.NewHasher(cfg.Seed),
		hashMask: cfg.HashMask - 1, // 0: all ones
		grace:    cfg.Grace,
		evicted:  cfg.Evicted,
		below:    cfg.Below,
		segShift: g.segShift, unitShift: g.unitShift,
		shardShift: min(64-uint(bits.Len(uint(g.shards-1))), 63),
		shardMask:  uint64(g.shards - 1),
		shards:     make([]shard, g.shards),
		ghostless:  g.shards,
		ghostMax:   8 * uint64(policy.GhostWords(cfg.Bytes, cfg.Bytes/int64(g.shards))),
		tuner:      policy.NewTuner(cfg.Bytes),
		ahead:      2 + g.shards/4,
		walkMost:   walkRecords,
	}
	t.setInParts(cfg.Below)
	t.reads.init(g.shards)
	t.overhead.Store(sizeOf[Tier]() + int64(g.shards)*sizeOf[shard]() + t.reads.bytes() + t.tuner.Bytes())
	t.setLimit(cfg.Bytes)
	return t
}

// reserve lays out the region: the segments, the ghosts, the table of segments
// and each shard's list of index chunks. Only what is touched costs memory.
func (t *Tier) reserve(g geometry, cfg *Config, perPage int) (err error) {
	reserve, bytes := cfg.Reserve, cfg.Bytes
	if reserve == nil {
		reserve = offheap.Reserve
	}
	n := uint64((g.maxSegments + perPage) / perPage * perPage) // whole pages: the ghosts have their own
	t.ghostAt = n << g.segShift
	tableAt := t.ghostAt + t.ghostMax*uint64(g.shards)
	t.chunksAt = tableAt + n*uint64(sizeOf[segment]())
	t.maxChunks = n/uint64(g.shards) + 8
	if t.region, err = reserve(t.chunksAt + 4*t.maxChunks*uint64(g.shards)); err != nil {
		return err
	}
	t.segs = offheap.View[segment](t.region.Bytes(tableAt, int(t.chunksAt-tableAt)))
	if bytes >= hugeFrom {
		t.region.AdviseHuge(0, t.ghostAt)
	}
	return nil
}

func (s *shard) init(t *Tier, number uint32) {
	s.tier, s.number = t, number
	t.pool.take(&s.spare, 1)
	mem := index.Memory{Region: t.region, ChunkShift: t.segShift}
	list := t.region.Bytes(t.chunksAt+4*t.maxChunks*uint64(number-1), int(4*t.maxChunks))
	s.table.Init(mem, s.spare.pop(t.segs), offheap.View[atomic.Uint32](list), s.hashAll)
}

func (t *Tier) segmentCost() int64 { return geometry{segShift: t.segShift}.segmentCost() }

// setLimit sets the budget: what is left of it after the bookkeeping, and what is
// kept for more of that, is segments.
func (t *Tier) setLimit(bytes int64) {
	t.pool.mu.Lock()
	defer t.pool.mu.Unlock()
	t.setLimitLocked(bytes)
}

func (t *Tier) setLimitLocked(bytes int64) {
	t.bytes.Store(bytes)
	own := bytes - t.lent.Load()
	t.pool.aim(int((own - t.overhead.Load() - t.keptForGhosts()) / t.segmentCost()))
	t.maxRecord.Store(min(bytes/4, own/2, t.largestRecord()))
	t.pool.noteEvent()
}

// largestRecord is the most bytes that a key and its value may have together to
// find room if all other records leave: what is then left of the segments that a
// write may use are those which the shards' indexes keep.
func (t *Tier) largestRecord() int64 {
	segments := t.pool.target - reserveOf(t.pool.target) - index.LeastChunks*len(t.shards)
	return int64(max(segments, 1))<<t.segShift - record.MaxHeader
}

// MaxRecord is the most bytes that a key and its value may have together: a
// quarter of the budget, or half of what the tier below leaves of it if that is
// less; near the least budget, what finds room beside the bookkeeping.
func (t *Tier) MaxRecord() int64 { return t.maxRecord.Load() }

// Hash is the hash of a key, which the Hashed methods take. It depends on
// Config.Seed and the key only: it is the same in every process, on every machine.
func (t *Tier) Hash(key []byte) uint64 { return t.hash(key) }

func (t *Tier) hash(key []byte) uint64 { return t.hasher.Hash(key) & t.hashMask }

func (t *Tier) shardOf(hash uint64) *shard {
	return &t.shards[hash>>(t.shardShift&63)&t.shardMask]
}

func (t *Tier) segSize() uint32 { return 1 << (t.segShift & 31) }

// place is where a location lies in the region.
func (t *Tier) place(loc uint32) (off uint64) { return uint64(loc) << (t.unitShift & 63) }

// segmentAt is the segment that holds an offset, and the place in it.
func (t *Tier) segmentAt(off uint64) (id, in uint32) {
	return uint32(off >> t.segShift), uint32(off) & (t.segSize() - 1)
}

// roundUp is the room that n bytes take in a lane.
func (t *Tier) roundUp(n uint64) uint64 {
	unit := uint64(1) << t.unitShift
	return (n + unit - 1) &^ (unit - 1)
}

// header is a view of the fixed part of a record's header.
type header struct {
	version atomic.Uint32
	shape   atomic.Uint32
}

// Bounds are what SetBytes takes now.
func (t *Tier) Bounds() (least, most int64) { return t.minBytes(), t.maxBytes() }

func (t *Tier) header(off uint64) *header { return offheap.At[header](t.region, off) }

// shard owns the keys whose hashes begin alike. The first line is read by
// lock-free readers and seldom written; the rest belongs to the holder of mu.
type shard struct {
	epoch atomic.Uint64 // grows before a segment of this shard can be reused
	table index.Table
	_     [64]byte

	mu        sync.Mutex
	tier      *Tier
	watches   map[uint64]*Watch // by hash; nil without any
	number    uint32            // from 1
	lanes     [lanes]lane
	queues    [lanes]queue
	spare     chain
	cleanable cleanable
	ghosts    policy.Ghosts
	hasGhosts bool
	spared    int64 // bytes that the policy kept since a record was last evicted
	drain     drain
	owed      int64        // bytes that were stored, less those for which a step of a drain was done
	walking   uint32       // the segment whose records are being looked through
	held      atomic.Int64 // segments of the log that the shard holds
	events    *events      // what Evicted has to be told after unlocking
	closed    bool
	count     Counters
	scratch   []byte
	batch     walkBatch

	descents   []*descent    // long records that are on their way down
	descending chan struct{} // closed when who sees to that has done; nil: nobody does
	_          [64]byte
}

// drain is the reclaiming of one segment. It goes in steps of a few records, and
// between two of them others get the shard's lock. It is the shard's and nobody's
// own: whoever needs a segment of the shard does the next step, so that nobody waits
// for another's drain, nor minds one that was left off.
type drain struct {
	id      uint32 // the segment, which is in no queue and not cleanable; 0 for none
	at      uint32 // where the first record starts that is still to be looked at
	cleans  bool   // its live records are moved to the end of their lane; otherwise the policy decides
	insists bool   // nothing is kept that is not cleaned
	haunts  bool   // what leaves has ghosts
	ended   uint64 // how many drains have
}

// janitor takes expired records out and reports them, in a goroutine that begins
// with the first record that has a deadline. Evicted, which is the user's, may
// take its time there: only the next sweep waits for it.
type janitor struct {
	once     sync.Once // for what begins then
	begun    bool
	quit     chan struct{}
	sweeping sync.Mutex // held while a goroutine of the tier's own touches its memory
}

// maxPrefetch is the most bytes of a record that are loaded ahead: what
// follows, the processor foresees by itself.
const maxPrefetch = 512

// pause is where others may have the lock.
func (t *Tier) pause() {
	if t.between != nil {
		t.between()
	}
}

// refusal is why a record is not stored.
func (t *Tier) refusal() error {
	if t.closed.Load() {
		return ErrClosed
	}
	return ErrTooLarge
}
