package ssd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/bits"
	"sync"
	"sync/atomic"
	"time"

	"github.com/firncache/firn/internal/aio"
	"github.com/firncache/firn/internal/offheap"
	"github.com/firncache/firn/internal/record"
	"github.com/firncache/firn/internal/vfs"
)

const (
	lockName     = "lock"
	logName      = "log"
	snapshotName = "snapshot"
)

// What a tier may be.
const (
	on int32 = iota
	off
	closed
)

// Tier is the cache's second tier. All methods are safe for concurrent use.
type Tier struct {
	cfg   Config
	door  *door // to the files; Config.FS is behind it
	lock  locks
	super struct { // the superblock's file and what it says
		sync.Mutex
		file vfs.File
		superblock
		saved bool // Close has: the files say all that writes were acknowledged for
	}
	logFile                vfs.File
	logBytes, journalBytes int64 // of the files
	log                    *log
	journal                *journal
	index                  *index
	reader                 *aio.Reader
	flusher                *flusher
	lines                  lines

	hasher     record.Hasher
	state      atomic.Int32
	gaveUp     atomic.Bool // Close did not wait for the disk any longer
	recovering atomic.Bool
	health     health
	admission  admission
	count      counters
	empty      bool     // Open found no valid superblock
	buffers    [][]byte // as allocated, for freeing
	fixed      int64    // bytes of memory beside the index
	charge     func(bytes int64) error
	charging   sync.Mutex
	growing    atomic.Bool // the index is being given more memory
	charged    int64
	promised   int64 // that the index is allowed once it is charged
	plan       recoveryPlan

	expires    atomic.Bool  // a record has a deadline, or may have
	skew       atomic.Int64 // milliseconds that the clock is put forward by, lest it be earlier than before
	restarting sync.Mutex
	floor      atomic.Uint64 // the files say that segments below this serial are dead
	stuckAt    atomic.Uint64 // how far the log was written when a write waited in vain, plus one
	starvedAt  atomic.Int64  // what the index was allowed when a write waited in vain, plus one

	quit    chan struct{}
	wake    chan struct{}
	keeping sync.WaitGroup // the keeper
	running sync.WaitGroup // who else uses the files
	loose   tasks          // what Close does not wait for, but Free does: a Clear, and what voids the files
	closing tasks          // what Close began
}

// Open opens the files of a tier, or makes them. It decides what of them is
// kept, and recovers nothing yet: see Start.
func Open(cfg Config) (*Tier, error) {
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	if cfg.Patience <= 0 {
		cfg.Patience = 10 * time.Second
	}
	if cfg.Throttle <= 0 {
		cfg.Throttle = 200 * time.Millisecond
	}
	if cfg.BootID == nil {
		cfg.BootID = bootID
	}
	door := newDoor(cfg.FS)
	cfg.FS = door
	t := &Tier{cfg: cfg, door: door, quit: make(chan struct{}), wake: make(chan struct{}, 1)}
	t.lines.logger, t.health.lines = cfg.Log, &t.lines
	var err error
	if t.lock, err = takeLocks(door.FS); err != nil {
		return nil, err
	}
	if err := t.open(); err != nil {
		t.abandon()
		return nil, err
	}
	return t, nil
}

// open is Open once the lock is held.
func (t *Tier) open() (err error) {
	if err := claim(t.cfg.FS); err != nil {
		return err
	}
	if t.super.file, err = t.cfg.FS.Open("superblock", vfs.How{Create: true}); err != nil {
		return err
	}
	keep, why, err := t.decide()
	if err != nil {
		return err
	}
	t.hasher = record.NewHasher(t.super.seed)
	if err := t.openLog(); err != nil {
		return err
	}
	if err := t.allocateMemory(); err != nil {
		return err
	}
	if err = t.prepare(keep, why); vfs.NoSpace(err) {
		return t.startOff(err)
	}
	return err
}

// Now is the time in milliseconds since 1970. It is not earlier than what
// earlier processes took it for: a deadline that has passed stays passed. What
// the system's clock was set back by is kept, so that it goes on from there, and
// the time between two processes counts.
func (t *Tier) Now() int64 { return t.cfg.Now() + t.skew.Load() }

// Seed is the seed of the hash that the keys' ids are made from.
func (t *Tier) Seed() uint64 { return t.super.seed }

// openLog opens the log and the journal, past the page cache if that is asked
// for and can be had.
func (t *Tier) openLog() (err error) {
	if t.super.segments < leastSegments {
		return fmt.Errorf("ssd: %d bytes hold %d segments of %d bytes: want at least %d", t.cfg.Bytes, t.super.segments, t.super.segBytes, leastSegments)
	}
	if t.cfg.Direct != DirectOff {
		t.logFile, err = t.openDirect()
		if err != nil && (t.cfg.Direct == DirectOn || !errors.Is(err, vfs.ErrNoDirect)) {
			return err
		}
	}
	if t.logFile == nil {
		if t.logFile, err = t.cfg.FS.Open(logName, vfs.How{Create: true}); err != nil {
			return err
		}
	}
	file, err := t.cfg.FS.Open(journalName, vfs.How{Create: true})
	if err != nil {
		return err
	}
	t.logBytes, t.journalBytes = int64(t.super.segments*t.super.segBytes), int64(t.super.journal)
	t.journal = newJournal(file, t.journalBytes, t.poke)
	t.reader, err = aio.Open(aio.Config{File: t.logFile, Depth: t.cfg.Depth, Mode: t.cfg.Reads, PoolBytes: min(8<<20, t.cfg.Memory/64), Patience: t.cfg.Patience})
	return err
}

// allocateMemory makes what the tier needs in memory.
func (t *Tier) allocateMemory() (err error) {
	s := &t.super.superblock
	segBytes := int(s.segBytes)
	var bufs [][]byte
	for range buffers {
		b, err := offheap.Alloc(segBytes + blockBytes)
		if err != nil {
			return err
		}
		t.buffers = append(t.buffers, b)
		bufs = append(bufs, aligned(b, segBytes))
	}
	t.log = newLog(uint(bits.TrailingZeros64(s.segBytes)), uint(s.unitShift), int(s.segments), bufs, t.Now)
	if t.index, err = newIndex(uint(s.shardBits), uint(s.locationBits), t.indexMost()); err != nil {
		return err
	}
	t.index.hungry, t.log.wake = t.poke, t.poke
	t.admission.init(&t.cfg)
	t.fixed = buffers*int64(segBytes) + slotMemory*int64(s.segments) + journalMemory(int64(s.journal)) + t.admission.bytes() + t.readMemory()
	t.flusher = &flusher{
		log: t.log, file: t.logFile, block: vfs.Aligned(blockBytes, blockBytes),
		bytes: func(n int) { t.count.written.Add(uint64(n)) }, fail: t.segmentFailed, well: t.segmentWritten,
	}
	return nil
}

// aligned is the part of mem, n bytes long, that begins at a block. mem is a
// block longer than n.
func aligned(mem []byte, n int) []byte {
	skip := offheap.Misaligned(mem, blockBytes)
	return mem[skip : skip+n : skip+n]
}

// prepare makes the files what the superblock says. When it returns nil, a log
// has begun, empty or one to be recovered.
func (t *Tier) prepare(keep bool, why string) error {
	s := &t.super
	if err := t.super.file.Allocate(2 * superSlot); err != nil {
		return err
	}
	if n, err := t.journal.file.Size(); keep && (err != nil || n < t.journalBytes) {
		keep, why = false, "the journal is not whole"
	}
	if err := t.journal.file.Allocate(t.journalBytes); err != nil {
		return err
	}
	if err := t.logFile.Allocate(t.logBytes); err != nil {
		return err
	}
	if keep {
		if ok, err := t.planRecovery(); err != nil {
			return err
		} else if !ok {
			keep, why = false, "the system lost what had been written"
		}
	}
	if !keep {
		if err := t.begin(why); err != nil {
			return err
		}
	}
	if keep {
		s.clean, s.snapshot, s.bootID, s.skew = false, 0, t.cfg.BootID(), t.skew.Load()
		if err := replaceSuperblock(s.file, &s.superblock); err != nil {
			return err
		}
	}
	if err := s.file.Sync(); err != nil {
		return err
	}
	_ = t.cfg.FS.Remove(snapshotTemp) // what a Close left that did not end
	if !keep {
		_ = t.cfg.FS.Remove(snapshotName) // it belongs to no log any more
	}
	return t.cfg.FS.SyncDir()
}

// Start begins to serve: it recovers the index, in the background as far as
// that takes time, and starts to write. charge is told, from goroutines of the
// tier's own, of the memory that the tier takes, in bytes more than before.
func (t *Tier) Start(charge func(bytes int64) error) error {
	t.charge = charge
	healing := t.health.healing
	if err := t.chargeMemory(t.index.wantsMemory()); err != nil {
		return err
	}
	t.running.Go(t.flusher.run)
	t.running.Go(t.watchdog)
	t.keeping.Go(t.keep)
	t.startRecovery()
	if healing != nil { // there was no space to begin with
		t.running.Go(func() { t.heal(healing) })
	}
	return nil
}

// Len is the number of records.
func (t *Tier) Len() int {
	if t.state.Load() != on {
		return 0
	}
	return t.index.len()
}

// background is for what no caller waits for.
var background = context.Background()
