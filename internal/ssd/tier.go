package ssd

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/firncache/firn/internal/aio"
	"github.com/firncache/firn/internal/registry"
	"github.com/firncache/firn/internal/ssd/admission"
	"github.com/firncache/firn/internal/ssd/files"
	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/ssd/health"
	"github.com/firncache/firn/internal/ssd/index"
	"github.com/firncache/firn/internal/ssd/log"
	"github.com/firncache/firn/internal/ssd/shares"
	"github.com/firncache/firn/internal/vfs"
)

// The states of a tier:
//
//	           a disk that fails: switchOff
//	Open ─> on ─────────────────────────────> offline
//	        │ <──────── retryLoop, empty ──────  │
//	        └──────────> closed <────────────────┘
//	               Close, from which none returns
//
// A tier that found no space for its files begins offline. Offline, nothing is found
// and nothing taken over; RAM goes on alone. health has why, and counts the errors
// that lead there: abandoned segments and reads that fail.
const (
	on int32 = iota
	offline
	closed
)

// Tier is the cache's second tier. All methods are safe for concurrent use.
//
// Lock order: restarting; then a RAM shard; then Shard.Mu of the index, several in
// rising order; then Log.Mu. restarting comes before super.mu, and that before the
// budget's. All others are leaves. Of these restarting and super.mu are held during
// I/O, and none while the user is called.
type Tier struct {
	cfg    Config
	grace  atomic.Int64 // Config.Grace, or what RaiseGrace has made of it
	state  atomic.Int32
	health health.Health
	count  counters

	// State on disk, and state that outlives the process.
	tracked   *files.TrackedFS // to the files; Config.FS is behind it
	keeper    vfs.MemoryKeeper // nil: the system has no memory that outlives the process, or none is wanted
	lock      files.Locks      // on the directory
	super     superFile
	logFile   vfs.File
	logBytes  int64        // of the file at Open
	fileBytes atomic.Int64 // of the file now, once Open has returned
	reader    *aio.Reader
	flusher   *log.Writer

	// Knowledge of the disk.
	ids          format.IDs
	clock        clock
	log          *log.Log
	index        *index.Index
	registry     *registry.Table // in the index's memory
	live         liveCounts
	hasDeadlines atomic.Bool // a record has a deadline, or may have
	obsolete     atomic.Pointer[func(key, head []byte) bool]

	// Findings of Open.
	source        indexSource
	foundSegments uint64        // of the log that is kept, before it got more
	usable        int           // how many segments the files have room for; the log may have more
	leftMemory    *files.Memory // that a process left which did not close; nil: none
	noSuperblock  bool          // there was no valid one
	started       bool          // Start found the index

	admission admission.Admission
	shares    shares.Shares
	memory    memoryAccount
	allocated [][]byte // the log's buffers, for freeing
	waits     waits
	batches   atomic.Int64 // GetManys under way

	shrinking atomic.Bool // Close empties surplus slots
	gaveUp    atomic.Bool // Close has: nothing more begins on the disk
	saved     atomic.Bool // Close has saved the index
	lost      struct {    // counted by Lost, while the tier has the memory of the index
		once           sync.Once
		records, bytes int64
	}

	restarting      sync.Mutex // a new log against reclaiming; the first of all locks
	warnedIndexFull sync.Once  // the log has said that the index limits the tier
	work            work
}

// liveCounts count entries of the index.
type liveCounts struct {
	parts    atomic.Int64 // that name parts of long values
	descents atomic.Int64 // no entries: long values whose parts are being written
}

// waits are the last waits in vain: who comes next does not wait for the same.
type waits struct {
	stalledAtLSN   atomic.Uint64 // how far the log was written, plus one
	starvedAtBytes atomic.Int64  // the bytes that the index was allowed, plus one
}

// work is the tier's goroutines.
type work struct {
	quit        chan struct{} // closed by Close
	wake        chan struct{} // of maintain
	maintaining sync.WaitGroup
	growing     atomic.Bool    // the index is being given more memory
	telling     atomic.Bool    // the user is being notified of evicted records
	running     sync.WaitGroup // who else uses the files
	detached    tasks          // work that Free waits for and Close does not, for the user may call it there: growth of the index, and notifications
	closing     tasks          // work that Close began
}

// WakeMaintenance makes maintain look for work.
func (w *work) wakeMaintenance() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// indexSource says where the index of the log comes from that Open found.
type indexSource uint8

const (
	fromScratch  indexSource = iota // the log is a new one
	fromSnapshot                    // it was closed
	fromMemory                      // the process died, and left the index
	fromLog                         // it is made again, with records that may be outdated
)

func (s indexSource) String() string {
	return [...]string{"scratch", "the index that Close saved", "the memory that the last process left", "the log's lists"}[s]
}

// Now is the time on the tier's clock, in milliseconds since 1970.
func (t *Tier) Now() int64 { return t.clock.Now() }

// Seed is the seed of the hash that the keys' ids are made from.
func (t *Tier) Seed() uint64 { return t.super.Seed }

// Registry is the table of the cache's tags and namespaces. It outlives the process as the index
// does, and it is no part of what Clear takes out.
func (t *Tier) Registry() *registry.Table { return t.registry }

// Len is the number of records.
func (t *Tier) Len() int {
	if t.state.Load() != on {
		return 0
	}
	return t.records()
}

// records is the number of records in the index, of which the parts of long ones
// are none.
func (t *Tier) records() int { return max(t.index.Len()-int(t.live.parts.Load()), 0) }

// background is for work that no caller waits for.
var background = context.Background()

// removeOld removes files, as far as they are there.
func (t *Tier) removeOld(names ...string) {
	for _, name := range names {
		_ = t.cfg.FS.Remove(name)
	}
}

// counters count since Open.
type counters struct {
	hits, collisions, collided          atomic.Uint64
	demoted, demotedBytes, alreadyOnSSD atomic.Uint64
	rejected, dropped, tooLarge         atomic.Uint64
	overShare, shareEvicted             atomic.Uint64
	indexFull                           atomic.Uint64
	invalidated                         atomic.Uint64
	evicted, expired, reinserted        atomic.Uint64
	reinsertedBytes, reclaimed          atomic.Uint64
	written                             atomic.Uint64
	corrupt, readErrors, writeErrors    atomic.Uint64
	quarantined, switchedOff            atomic.Uint64
	compressedFrom, compressedTo        atomic.Uint64
}
