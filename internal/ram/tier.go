package ram

import (
	"sync"
	"sync/atomic"

	"github.com/firncache/firn/internal/evicted"
	"github.com/firncache/firn/internal/histogram"
	"github.com/firncache/firn/internal/index"
	"github.com/firncache/firn/internal/offheap"
	"github.com/firncache/firn/internal/policy"
	"github.com/firncache/firn/internal/ram/quotas"
	"github.com/firncache/firn/internal/ram/segments"
	"github.com/firncache/firn/internal/record"
	"github.com/firncache/firn/internal/watch"
)

// Tier is a byte cache in memory that the collector does not see. All methods
// are safe for concurrent use, Free excepted.
type Tier struct {
	region          *offheap.Region
	hasher          record.Hasher
	hashMask        uint64
	shards          []shard
	shardMask       uint64  // hash >> shardShift & shardMask is the shard's number
	base            uintptr // the region's
	unitShift       uint    // location << unitShift is the offset in the region
	segShift        uint    // log2 of the segment size
	segMask         uint64  // the segment size less one
	reads           readCounters
	simulatedMask   atomic.Uint64 // see simulated; getFast tests it
	meanRecordBytes atomic.Uint64 // mean of one shard, stored now and then
	overlapFrom     uint64        // see the constant; other values in tests
	clock           times         // of deadlines; its coarse time runs ahead if they slide
	passed          times         // of moments, for Passed
	slides          sliding
	grace           atomic.Int64

	segs         []segments.Segment
	pool         segments.Pool
	tuner        *policy.Tuner
	simulations  simulations
	quotas       quotas.Accounts
	full         atomic.Bool // a segment was evicted since there was room for all
	large        sync.Mutex  // held while one write gathers several segments; before shard.mu
	onEvict      func(key, value []byte, cause evicted.Cause)
	obsolete     atomic.Pointer[func(key, head []byte) bool] // see SetObsolete
	wants        func(key []byte, cause evicted.Cause) bool  // nil: all
	causes       atomic.Uint32                               // Causes for which onEvict is called; 0 without it
	lower        LowerTier
	lowerInParts LowerTierInParts // lower, if it takes long records in parts; nil: it does not
	maxWhole     int              // the most bytes of a record that is demoted as a whole
	overhead     atomic.Int64     // bytes of bookkeeping outside the segments
	reserved     atomic.Int64     // bytes of the budget that are the lower tier's: see Reserve
	ghostAt      uint64           // where the shards' ghosts lie in the region
	ghostMax     uint64           // bytes of each shard's, at most
	ghostless    int              // shards that have yet to get theirs; the pool's lock guards it
	chunksAt     uint64           // where the shards' lists of index chunks lie
	maxChunks    uint64           // length of each
	bytes        atomic.Int64
	maxRecord    atomic.Int64
	resizing     sync.Mutex // held while bytes or reserved change; before the pool
	closed       atomic.Bool
	janitor      janitor

	scratch scratchPool

	probe    *probe // nil: none
	readKeys readKeys
	ages     histogram.Recorder // of records whose room was needed: see shard.noteAge

	freeAhead int        // segments that are to be free when a write needs one: see reclaimAhead
	maxWalk   int        // records in a step, at most: stepRecords, or fewer in tests
	between   func()     // for tests: called between two steps; nil: nothing
	unlocking func(work) // for tests: called at the end of a hold of a shard's lock; nil: nothing
}

func (t *Tier) segmentCost() int64 { return geometry{segShift: t.segShift}.segmentCost() }

// Hash is the hash of a key, which all methods but Get take with the key. It depends on
// Config.Seed and the key only: it is the same in every process, on every machine.
func (t *Tier) Hash(key []byte) uint64 { return t.hasher.Hash(key) & t.hashMask }

// shardShift is where the bits of a hash begin that choose the shard: behind those of the
// tag. The bucket comes from the lower half.
const shardShift = 48

func (t *Tier) shardOf(hash uint64) *shard {
	return &t.shards[hash>>shardShift&t.shardMask]
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

// pause marks the places where a shard's lock was released between two steps.
func (t *Tier) pause() {
	if t.between != nil {
		t.between()
	}
}

// maxPrefetch is the most bytes of a record that are loaded ahead: the processor
// foresees the rest by itself.
const maxPrefetch = 512

// shard owns the keys whose hashes begin alike. The first line is read by
// lock-free readers and seldom written; the rest belongs to the holder of mu, which
// comes after Tier.large and janitor.sweeping in the lock order, and before the pool's,
// the tuner's and the lower tier's locks. Nobody holds two shards' mu.
type shard struct {
	epoch atomic.Uint64 // grows before a segment of this shard can be reused
	table index.Table
	_     [64]byte

	mu        sync.Mutex
	tier      *Tier
	watches   watch.Table
	number    uint32 // from 1
	lanes     [segments.Lanes]segments.Lane
	queues    [segments.Lanes]segments.Queue
	spare     segments.Chain
	cleanable segments.Cleanable
	ghosts    policy.Ghosts
	hasGhosts bool
	keptBytes int64 // bytes that the policy kept since a record was last evicted
	drain     drain
	leavers   leavers
	drainDebt int64          // bytes that were stored, less those for which a step of a drain was done
	newest    uint32         // the segment where the record that was last written starts
	walking   uint32         // the segment whose records are being looked through, in this hold
	walks     *walk          // those under way, the drain's excepted
	work      work           // done in this hold
	dead      segments.Queue // segments that Clear has emptied, and that are still to be given back
	held      atomic.Int64   // segments of the log that the shard holds
	evicted   *evicted.Batch // records for which OnEvict is called after unlocking
	closed    bool
	count     Counters
	mirrored  mirrored
	scratch   []byte
	batch     walkBatch

	movedDeadlines uint64  // of records that the lower tier may have a copy of
	aborted        aborted // copies of long records that are here still

	demotions demotions     // pending, of long records
	demoting  chan struct{} // closed when the goroutine that puts their parts has done; nil: there is none
	_         [64]byte
}

// mirrored is what a pass of Mirror has found of a shard.
type mirrored struct {
	whole   bool   // the lower tier had all, or had been offered it
	changes uint64 // of the shard by then
	lost    uint64 // records that the lower tier had lost by then
}

// isMirrored reports whether the lower tier has all records that need a copy, if it has lost
// no more than lost says.
func (s *shard) isMirrored(lost uint64) bool {
	return s.mirrored == mirrored{true, s.changes(), lost}
}

// changes counts what may make a record differ from its copy.
func (s *shard) changes() uint64 { return s.count.Sets() + s.count.Promoted + s.movedDeadlines }

// aborted counts the copies that the lower tier would not take in the end.
type aborted struct{ records, bytes int64 }

// drain is the reclaiming of one segment. It goes in steps of a few records, and
// between two of them others get the shard's lock. It belongs to the shard and to no
// goroutine: every writer that needs a segment of the shard does the next step, so that none
// waits for another's drain, and one that was left off goes on.
type drain struct {
	walk                // through the segment, which is in no queue and not cleanable
	cleans       bool   // its live records are moved to the end of their lane; otherwise the policy decides
	evictsAll    bool   // whatever the policy says: it has kept too much
	now          int64  // the time of its last step, in clock milliseconds
	leavesGhosts bool   // a record that is evicted leaves a ghost
	ended        uint64 // how many drains have
}

// janitor takes expired records out and reports them, in a goroutine that begins
// with the first record that has a deadline. OnEvict, which is the user's, may
// take its time there: only the next sweep waits for it.
type janitor struct {
	once     sync.Once // for the start of the goroutine
	begun    bool
	quit     chan struct{}
	sweeping sync.Mutex // held while a goroutine of the tier's own touches its memory; before shard.mu and the pool
}

// leavers are records that a shard took out because their room was needed, all of the same age,
// and that are not in the tier's distribution yet.
type leavers struct {
	age int64 // milliseconds
	n   uint64
}
