package ssd

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/firncache/firn/internal/aio"
	"github.com/firncache/firn/internal/ssd/files"
	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/vfs"
)

// What a tier may be.
const (
	on int32 = iota
	offline
	closed
)

// Tier is the cache's second tier. All methods are safe for concurrent use.
type Tier struct {
	cfg        Config
	door       *files.Door      // to the files; Config.FS is behind it
	keeper     vfs.MemoryKeeper // nil: the system has no memory that outlives the process, or none is wanted
	lock       files.Locks
	super      superFile
	logFile    vfs.File
	logBytes   int64 // of the file
	log        *log
	index      *index
	leftMemory *files.Memory // that a process left which did not close; nil: none
	source     indexSource
	reader     *aio.Reader
	flusher    *flusher
	logger     asyncLogger

	ids             format.IDs
	clock           clock
	state           atomic.Int32
	health          health
	admission       admission
	count           counters
	noSuperblock    bool     // Open found no valid superblock
	started         bool     // Start found the index
	allocated       [][]byte // as allocated, for freeing
	fixed           int64    // bytes of memory beside the index
	charge          func(bytes int64) error
	charging        sync.Mutex
	growing         atomic.Bool // the index is being given more memory
	charged         int64
	promised        int64     // that the index is allowed once it is charged
	warnedIndexFull sync.Once // the log has said that the index is what limits the tier

	parts          atomic.Int64 // entries of the index that name parts of long values
	descents       atomic.Int64 // long values whose parts are being written
	hasDeadlines   atomic.Bool  // a record has a deadline, or may have
	restarting     sync.Mutex
	stalledAtLSN   atomic.Uint64 // how far the log was written when a write waited in vain, plus one
	starvedAtBytes atomic.Int64  // what the index was allowed when a write waited in vain, plus one

	batches     atomic.Int64 // GetManys under way
	quit        chan struct{}
	wake        chan struct{}
	maintaining sync.WaitGroup // the goroutine that maintains
	running     sync.WaitGroup // who else uses the files
	detached    tasks          // what Close does not wait for, but Free does: growth of the index
	closing     tasks          // what Close began
}

// indexSource says where the index of the log comes from that Open found.
type indexSource uint8

const (
	fromScratch  indexSource = iota // the log is a new one
	fromSnapshot                    // it was closed
	fromMemory                      // the process died, and left the index
	fromLog                         // it is made anew, with what may be outdated
)

// Now is the time on the tier's clock, in milliseconds since 1970.
func (t *Tier) Now() int64 { return t.clock.Now() }

// Seed is the seed of the hash that the keys' ids are made from.
func (t *Tier) Seed() uint64 { return t.super.Seed }

// Len is the number of records.
func (t *Tier) Len() int {
	if t.state.Load() != on {
		return 0
	}
	return t.records()
}

// records is the number of records in the index, of which the parts of long ones
// are none.
func (t *Tier) records() int { return max(t.index.len()-int(t.parts.Load()), 0) }

// background is for what no caller waits for.
var background = context.Background()

// wakeMaintenance makes maintain look for work.
func (t *Tier) wakeMaintenance() {
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// removeOld removes files, as far as they are there.
func (t *Tier) removeOld(names ...string) {
	for _, name := range names {
		_ = t.cfg.FS.Remove(name)
	}
}
