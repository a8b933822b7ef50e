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
	"github.com/firncache/firn/internal/ssd/files"
	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/vfs"
)

// What a tier may be.
const (
	on int32 = iota
	off
	closed
)

// Tier is the cache's second tier. All methods are safe for concurrent use.
type Tier struct {
	cfg      Config
	door     *files.Door      // to the files; Config.FS is behind it
	keeper   vfs.MemoryKeeper // nil: the system has no memory that outlives the process, or none is wanted
	lock     files.Locks
	super    superFile
	logFile  vfs.File
	logBytes int64 // of the file
	log      *log
	index    *index
	left     *files.Memory // that a process left which did not close; nil: none
	plan     plan
	reader   *aio.Reader
	flusher  *flusher
	lines    lines

	ids       format.IDs
	clock     clock
	state     atomic.Int32
	health    health
	admission admission
	count     counters
	blank     bool     // Open found no valid superblock
	started   bool     // Start found the index
	buffers   [][]byte // as allocated, for freeing
	fixed     int64    // bytes of memory beside the index
	charge    func(bytes int64) error
	charging  sync.Mutex
	growing   atomic.Bool // the index is being given more memory
	charged   int64
	promised  int64     // that the index is allowed once it is charged
	crowded   sync.Once // the user was told that the index is what limits the tier

	parts      atomic.Int64 // entries of the index that name parts of long values
	descending atomic.Int64 // long values whose parts are being written
	expires    atomic.Bool  // a record has a deadline, or may have
	restarting sync.Mutex
	stuckAt    atomic.Uint64 // how far the log was written when a write waited in vain, plus one
	starvedAt  atomic.Int64  // what the index was allowed when a write waited in vain, plus one

	batches atomic.Int64 // GetManys under way
	quit    chan struct{}
	wake    chan struct{}
	keeping sync.WaitGroup // the keeper
	running sync.WaitGroup // who else uses the files
	loose   tasks          // what Close does not wait for, but Free does: growth of the index
	closing tasks          // what Close began
}

// plan says where the index of the log comes from that Open found.
type plan uint8

const (
	fromNothing  plan = iota // the log is a new one
	fromSnapshot             // it was closed
	fromMemory               // the process died, and left the index
	fromLog                  // it is made anew, with what may be outdated
)

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
		cfg.BootID = files.BootID
	}
	keeper, _ := cfg.FS.(vfs.MemoryKeeper)
	door := files.NewDoor(cfg.FS)
	cfg.FS = door
	t := &Tier{cfg: cfg, door: door, keeper: keeper, quit: make(chan struct{}), wake: make(chan struct{}, 1)}
	t.clock.system = cfg.Now
	t.lines.logger, t.health.lines = cfg.Log, &t.lines
	t.admission.init(&t.cfg, t.Now)
	door.Wrote = t.wrote
	var err error
	if t.lock, err = files.Lock(door.FS); err != nil {
		return nil, err
	}
	if err := t.open(); err != nil {
		t.abandon()
		return nil, err
	}
	return t, nil
}

// wrote counts what was written to any of the files.
func (t *Tier) wrote(n int) {
	t.count.written.Add(uint64(n))
	t.admission.budget.wrote(n)
	if t.admission.budget.due() {
		t.poke()
	}
}

// open is Open once the lock is held.
func (t *Tier) open() (err error) {
	if err := files.Claim(t.cfg.FS); err != nil {
		return err
	}
	if t.super.file, err = t.cfg.FS.Open("superblock", vfs.How{Create: true}); err != nil {
		return err
	}
	why, err := t.decide()
	if err != nil {
		return err
	}
	t.admission.budget.resume(t.super.Budget)
	t.ids = t.super.IDs(t.cfg.HashMask)
	if err := t.openLog(); err != nil {
		return err
	}
	if err := t.allocateMemory(); err != nil {
		return err
	}
	if err = t.prepare(why); vfs.NoSpace(err) {
		return t.startOff(err)
	}
	return err
}

// Now is the time on the tier's clock, in milliseconds since 1970.
func (t *Tier) Now() int64 { return t.clock.Now() }

// Seed is the seed of the hash that the keys' ids are made from.
func (t *Tier) Seed() uint64 { return t.super.Seed }

// openLog opens the log, past the page cache if that is asked for and can be had.
func (t *Tier) openLog() (err error) {
	if err := t.cfg.enough(&t.super.Superblock); err != nil {
		return err
	}
	if t.cfg.Direct != DirectOff {
		t.logFile, err = files.OpenDirect(t.cfg.FS, t.cfg.Direct == DirectOn)
		if err != nil && (t.cfg.Direct == DirectOn || !errors.Is(err, vfs.ErrNoDirect)) {
			return err
		}
	}
	if t.logFile == nil {
		if t.logFile, err = t.cfg.FS.Open(format.LogName, vfs.How{Create: true}); err != nil {
			return err
		}
	}
	t.logBytes = int64(t.super.Segments * t.super.SegmentBytes)
	t.reader, err = t.openReader()
	return err
}

// allocateMemory makes what the tier needs in memory.
func (t *Tier) allocateMemory() (err error) {
	s := &t.super.Superblock
	segBytes := int(s.SegmentBytes)
	var bufs [][]byte
	for range buffers {
		b, err := offheap.Alloc(segBytes + files.BlockBytes)
		if err != nil {
			return err
		}
		t.buffers = append(t.buffers, b)
		bufs = append(bufs, aligned(b, segBytes))
	}
	m, err := t.memoryOf(s)
	if err != nil {
		return err
	}
	t.log = newLog(m, bufs, t.Now, t.cfg.Grace)
	t.log.logID = s.LogID
	t.index = newIndex(uint(s.ShardBits), m, m == t.left)
	t.index.hungry, t.log.wake = t.poke, t.poke
	t.fixed = t.cfg.fixedMemory(s)
	t.flusher = &flusher{
		log: t.log, file: t.logFile, block: vfs.Aligned(files.BlockBytes, files.BlockBytes),
		fail: t.segmentFailed, well: t.segmentWritten,
	}
	return nil
}

// memoryOf is the memory for the index of a log: what was left, if it is of that
// size.
func (t *Tier) memoryOf(s *format.Superblock) (*files.Memory, error) {
	shape := format.MemoryShape{
		Slots: uint32(s.Segments), Shards: 1 << s.ShardBits, Stride: uint64(t.cfg.indexMost()>>s.ShardBits/8) &^ 7, // whole cache lines
		SegmentShift: uint8(bits.TrailingZeros64(s.SegmentBytes)), UnitShift: s.UnitShift, LocationBits: s.LocationBits,
	}
	if shape.Stride < leastHomes+shardSlack {
		return nil, fmt.Errorf("ssd: index of %d bytes: want at least %d for %d shards", t.cfg.indexMost(), leastTables(1<<s.ShardBits), 1<<s.ShardBits)
	}
	if t.left != nil && t.left.MemoryShape == shape {
		return t.left, nil
	}
	m, why, err := files.NewMemory(shape, t.keeper)
	if why != nil {
		t.lines.warn("firn: SSD tier: the system has no memory that outlives the process; after a crash the tier starts empty", "error", why)
	}
	return m, err
}

// aligned is the part of mem, n bytes long, that begins at a block. mem is a
// block longer than n.
func aligned(mem []byte, n int) []byte {
	skip := offheap.Misaligned(mem, files.BlockBytes)
	return mem[skip : skip+n : skip+n]
}

// prepare makes the files what the superblock says. When it returns nil, an empty log
// has begun, or Start finds the index of what the files hold.
func (t *Tier) prepare(why string) error {
	if err := t.super.file.Allocate(2 * format.SuperblockBytes); err != nil {
		return err
	}
	if err := t.logFile.Allocate(t.logBytes); err != nil {
		return err
	}
	if t.plan != fromNothing {
		return nil
	}
	if err := t.begin(why); err != nil {
		return err
	}
	t.removeOld(format.SnapshotTempName, format.SnapshotName)
	return t.cfg.FS.SyncDir()
}

// removeOld removes files, as far as they are there.
func (t *Tier) removeOld(names ...string) {
	for _, name := range names {
		_ = t.cfg.FS.Remove(name)
	}
}

// Start begins to serve: it finds the index, and starts to write. charge is told,
// from goroutines of the tier's own, of the memory that the tier takes, in bytes
// more than before.
func (t *Tier) Start(charge func(bytes int64) error) error {
	t.charge = charge
	healing := t.health.healing
	if err := t.chargeMemory(t.index.wantsMemory()); err != nil {
		return err
	}
	if err := t.findIndex(); err != nil {
		return err
	}
	t.started = true
	t.running.Go(t.flusher.run)
	t.keeping.Go(t.keep)
	t.poke()            // a log that is full has room to be made
	if healing != nil { // there was no space to begin with
		t.running.Go(func() { t.heal(healing) })
	}
	return nil
}

// findIndex goes on with the log that was found. While it does, the files and what
// was left in memory stay as they are: should the process die, the next finds them.
func (t *Tier) findIndex() error {
	if t.plan == fromNothing {
		return nil
	}
	start := time.Now()
	t.expires.Store(true) // some of what is there may
	var from string
	switch t.plan {
	case fromSnapshot:
		from = "snapshot"
		if err := t.loadSnapshot(t.super.Snapshot); err != nil {
			t.index.clear(nil)
			return t.begin("the snapshot cannot be read: " + err.Error())
		}
	case fromMemory:
		from = "memory"
		t.attach()
	case fromLog:
		from = "log"
		t.rebuild()
	}
	t.admission.choosing.Store(t.log.freeSlots() <= t.log.ahead)
	t.noteRoom()
	if err := t.chargeMemory(0); err != nil {
		return err
	}
	if err := t.goOn(); err != nil {
		return err
	}
	t.lines.info("firn: SSD tier is back", "records", t.records(), "from", from, "took", time.Since(start).Round(time.Millisecond))
	return nil
}

// goOn makes the superblock say that the log is in use, and where its index is.
func (t *Tier) goOn() error {
	t.index.Head.LogID = t.super.LogID
	t.index.Head.Valid.Store(1)
	if err := t.super.replace(t.inUse); err != nil {
		return err
	}
	if err := t.super.file.Sync(); err != nil {
		return err
	}
	if old := t.left; old != nil {
		t.left = nil
		if old != t.index.Memory {
			old.Forget()
			old.Release()
		}
	}
	t.removeOld(format.SnapshotTempName)
	return t.cfg.FS.SyncDir()
}

// allow gives the index memory, as much of it as can be had.
func (t *Tier) allow(bytes int64) {
	more := min(bytes, t.index.limit.Load()-t.index.allowed.Load())
	for more > 0 && t.chargeMemory(more) != nil {
		more /= 2
	}
}

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
