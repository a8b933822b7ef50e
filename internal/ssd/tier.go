package ssd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/bits"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/firncache/firn/internal/aio"
	"github.com/firncache/firn/internal/offheap"
	"github.com/firncache/firn/internal/record"
	"github.com/firncache/firn/internal/vfs"
)

// Recovery says what is kept of an earlier process's data.
type Recovery uint8

// The kinds of recovery.
const (
	RecoverSafe   Recovery = iota // what is certain to be the latest: after Close, or a crash of the process alone
	RecoverAlways                 // whatever can be read, also after a crash of the machine: it may be outdated
	RecoverNever                  // nothing
)

// Direct says whether the page cache is passed by.
type Direct uint8

// The choices.
const (
	DirectAuto Direct = iota // if the file system can
	DirectOn                 // or fail
	DirectOff
)

// Config says what a tier is to be.
type Config struct {
	FS           vfs.FS
	Bytes        int64 // of all files together, at least MinBytes
	SegmentBytes int64 // a power of two from 64 KiB to 64 MiB; 0: chosen, or what the files have
	Memory       int64 // the cache's RAM budget, of which this tier takes its share
	Admission    Admission
	WriteLimit   int64 // bytes a second; 0: none
	Compress     bool
	Direct       Direct
	Recovery     Recovery
	Depth        int          // reads in flight at most; 0: a default
	Now          func() int64 // milliseconds since 1970
	Grace        int64        // how long after its deadline a value can still be had by GetStale, in milliseconds
	Log          *slog.Logger // nil: slog.Default

	BootID    func() string // for tests; nil: the system's
	Patience  time.Duration // how long Close waits for a disk that does nothing; 0: ten seconds
	Throttle  time.Duration // how long a write waits for a disk that is behind; 0: a fifth of a second
	HealEvery time.Duration // first pause before a tier that was switched off is tried again; 0: one second
	HashMask  uint64        // for tests: bits of the hash that are kept; 0 keeps all
	Reads     aio.Mode      // with io_uring or without
}

// What a tier's files may take, in bytes.
const (
	MinBytes  = 1 << 20
	MostBytes = 1 << 46
)

// LeastMemory is the RAM budget from which a tier can be had.
const LeastMemory = 1 << 20

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
	lock  io.Closer
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
	plan       recoveryPlan

	expires    atomic.Bool  // a record has a deadline, or may have
	skew       atomic.Int64 // what the clock has to be put forward by, lest it be earlier than before
	restarting sync.Mutex
	stuckAt    atomic.Uint64 // how far the log was written when a write waited in vain, plus one

	quit    chan struct{}
	wake    chan struct{}
	keeping sync.WaitGroup
	running sync.WaitGroup
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
	t := &Tier{cfg: cfg, quit: make(chan struct{}), wake: make(chan struct{}, 1)}
	t.lines.logger, t.health.lines = cfg.Log, &t.lines
	var err error
	if t.lock, err = cfg.FS.Lock(lockName); err != nil {
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
// earlier processes took it for: a deadline that has passed stays passed.
func (t *Tier) Now() int64 { return t.cfg.Now() + t.skew.Load() }

// Seed is the seed of the hash that the keys' ids are made from.
func (t *Tier) Seed() uint64 { return t.super.seed }

// decide reads the superblock and tells whether the log that it describes is
// kept. If not, the superblock describes a new one.
func (t *Tier) decide() (keep bool, why string, err error) {
	super, err := readSuperblock(t.super.file)
	fresh := t.geometry()
	switch {
	case t.cfg.Recovery == RecoverNever:
		why = "asked to"
	case errors.Is(err, ErrFormat):
		return false, "", err
	case errors.Is(err, errCorrupt):
		why, t.empty = "no valid superblock", true
		if n, err := t.super.file.Size(); err == nil && n == 0 {
			why = "new"
		}
	case err != nil:
		return false, "", fmt.Errorf("ssd: superblock: %w", err)
	default:
		why = t.mismatch(&super, &fresh)
	}
	if why == "" && !super.clean {
		switch boot := t.cfg.BootID(); {
		case t.cfg.Recovery == RecoverAlways:
		case boot == "" || super.bootID == "":
			why = "not closed, and the system does not tell whether it was restarted since"
		case boot != super.bootID:
			why = "not closed before the machine went down"
		}
	}
	if why != "" {
		fresh.counter = super.counter
		t.super.superblock = fresh
		return false, why, nil
	}
	super.segments = max(super.segments, fresh.segments)
	t.super.superblock = super
	t.skew.Store(max(0, super.lastTime-t.cfg.Now()))
	return true, "", nil
}

// mismatch says why a log cannot be kept, "" if it can: with another segment
// size, or in less space. More space is added to it.
func (t *Tier) mismatch(old, now *superblock) string {
	switch {
	case t.cfg.SegmentBytes != 0 && uint64(t.cfg.SegmentBytes) != old.segBytes:
		return fmt.Sprintf("segments have %d bytes, and %d are asked for", old.segBytes, t.cfg.SegmentBytes)
	case buffers*int64(old.segBytes) > t.cfg.Memory/4:
		return fmt.Sprintf("segments of %d bytes are too large for a RAM budget of %d", old.segBytes, t.cfg.Memory)
	case journalMemory(int64(old.journal)) > t.cfg.Memory/8:
		return fmt.Sprintf("a journal of %d bytes is too large for a RAM budget of %d", old.journal, t.cfg.Memory)
	}
	switch *now = t.geometryWith(int64(old.segBytes), int64(old.journal)); {
	case now.segments < old.segments:
		return fmt.Sprintf("it has %d segments, and there is space for %d", old.segments, now.segments)
	case now.segments*old.segBytes>>old.unitShift >= 1<<old.locationBits:
		return "there is more space than its locations reach"
	case t.indexMost()>>old.shardBits/8 < leastHomes+shardSlack:
		return fmt.Sprintf("an index of %d shards is too large for a RAM budget of %d", 1<<old.shardBits, t.cfg.Memory)
	}
	return ""
}

// geometry is what the superblock of a new log says.
func (t *Tier) geometry() superblock {
	size := t.cfg.SegmentBytes
	if size == 0 {
		size = max(floorPow2(min(t.cfg.Bytes/64, t.cfg.Memory/32, maxSegment)), minSegment)
		for t.cfg.Bytes/size > t.mostSegments() && 2*size <= min(t.cfg.Memory/16, maxSegment) {
			size *= 2
		}
	}
	journal := max(floorPow2(min(t.cfg.Bytes/256, t.cfg.Memory/16, maxJournal)), minJournal)
	return t.geometryWith(size, journal)
}

func floorPow2(n int64) int64 { return 1 << (bits.Len64(uint64(max(n, 1))) - 1) }

func (t *Tier) geometryWith(segBytes, journal int64) superblock {
	s := superblock{
		logID: rand.Uint64(), seed: rand.Uint64(),
		segBytes: uint64(segBytes), unitShift: leastUnitShift, nextSeg: 1,
		journal: uint64(journal),
	}
	rest := t.cfg.Bytes - 2*superSlot - int64(s.journal) - t.cfg.Bytes/snapshotShare
	s.segments = uint64(min(max(rest/segBytes, 0), t.mostSegments()))
	for s.segments*s.segBytes>>s.unitShift >= 1<<mostLocationBits {
		s.unitShift++
	}
	// One bit more than it takes: the log may grow to twice its size.
	s.locationBits = uint8(min(bits.Len64(s.segments*s.segBytes>>s.unitShift)+1, mostLocationBits))
	// A shard for each 4 MiB: some eight thousand records of half a KiB.
	for s.shardBits < maxShardBits && int64(4<<20)<<s.shardBits < t.cfg.Bytes && t.indexMost()>>(s.shardBits+1) >= 16<<10 {
		s.shardBits++
	}
	return s
}

// mostSegments bounds the memory that slots take: a log on a disk which is that
// much larger than RAM has fewer than would fit.
func (t *Tier) mostSegments() int64 { return max(t.cfg.Memory/32/slotMemory, leastSegments) }

// readMemory is what buffers for reads may take.
func (t *Tier) readMemory() int64 { return min(max(t.cfg.Memory/32, 128<<10), 8<<20) }

// indexMost is the most memory in bytes that the index may ever take.
func (t *Tier) indexMost() int64 { return t.cfg.Memory / 2 }

// buffers are the segments that memory is kept for: one fills while the other
// is written.
const buffers = 2

// leastSegments is how few segments a log may have.
const leastSegments = 4

// snapshotShare is the part of Config.Bytes, as a divisor, that is kept for the
// snapshot of the index.
const snapshotShare = 32

// openLog opens the log and the journal, past the page cache if that is asked
// for and can be had.
func (t *Tier) openLog() (err error) {
	if t.super.segments < leastSegments {
		return fmt.Errorf("ssd: %d bytes hold %d segments of %d bytes: want at least %d", t.cfg.Bytes, t.super.segments, t.super.segBytes, leastSegments)
	}
	if t.cfg.Direct != DirectOff {
		t.logFile, err = t.cfg.FS.Open(logName, vfs.How{Create: true, Direct: true})
		if err == nil && t.logFile.Align() > blockBytes {
			_ = t.logFile.Close()
			t.logFile, err = nil, fmt.Errorf("%w: it wants blocks of more than %d bytes", vfs.ErrNoDirect, blockBytes)
		}
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
		s.clean, s.snapshot, s.bootID = false, 0, t.cfg.BootID()
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

// begin starts an empty log.
func (t *Tier) begin(why string) error {
	if err := t.restart(); err != nil {
		return err
	}
	if why != "new" && why != "" {
		t.lines.info("firn: SSD tier starts empty", "reason", why)
	}
	return nil
}

// newLog writes a superblock with another log's number: from this moment on
// nothing older is data.
func (t *Tier) newLog() error {
	t.super.Lock()
	defer t.super.Unlock()
	s := t.super.superblock
	s.logID, s.floor, s.nextSeg = rand.Uint64(), 0, max(s.nextSeg, 1)
	s.bootID, s.clean, s.snapshot = t.cfg.BootID(), false, 0
	if err := replaceSuperblock(t.super.file, &s); err != nil {
		return err
	}
	t.super.superblock = s
	return nil
}

// logNumber is the number of the log, which is part of every checksum in it.
func (t *Tier) logNumber() uint64 {
	t.log.mu.Lock()
	defer t.log.mu.Unlock()
	return t.log.logID
}

// restart begins an empty log, on the disk and then in the journal and in memory.
// Housekeeping stands still meanwhile: what it found in the old log it must not
// do to the new one.
func (t *Tier) restart() error {
	t.restarting.Lock()
	defer t.restarting.Unlock()
	if err := t.newLog(); err != nil {
		return err
	}
	t.super.Lock()
	logID, next := t.super.logID, t.super.nextSeg
	t.super.Unlock()
	l := t.log
	l.mu.Lock()
	if s := l.open; s != nil {
		l.sealed = append(l.sealed, s)
		l.open = nil
	}
	for _, s := range l.sealed {
		s.failed = true // lest it be written any further
	}
	l.paused = true // until the index is empty: what is appended is named there
	for l.writing {
		l.changed.Wait()
	}
	for _, s := range l.sealed {
		s.done = true
	}
	l.sealed = nil
	l.mu.Unlock()

	err := t.journal.reset(logID)
	t.index.clear(func() {
		l.restart(logID, next)
		t.recovering.Store(false)
	})
	return err
}

// restart begins an empty log. All slots are free.
func (l *log) restart(logID, next uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.logID = logID
	l.next, l.prev, l.before = max(l.next, next), 0, 0
	l.free = l.free[:0]
	for i := range l.slots {
		s := &l.slots[i]
		s.serial.Store(0)
		s.sealed, s.bad = false, false
		l.free = append(l.free, int32(i))
	}
	l.tail.Store(l.lsn(l.next, 0))
	l.flushed.Store(l.lsn(l.next, 0))
	l.full.Store(false)
	l.paused = false
	l.noteRoom()
	l.changed.Broadcast()
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

// Clear takes every record out. When it returns nil, none comes back.
func (t *Tier) Clear() error {
	switch t.state.Load() {
	case closed:
		return errClosed
	case off:
		if t.void() != nil {
			return t.unnoted(errors.New("ssd: the disk cannot be told that the cache was cleared"))
		}
		return nil
	}
	t.stopRecovery()
	if err := t.restart(); err != nil {
		if t.state.Load() == closed { // Close may have saved what was to be cleared
			return errClosed
		}
		return t.unnoted(err)
	}
	return nil
}

// Ready reports whether what is about to leave RAM finds room here. While the
// disk is behind it first waits for that, as long as Config.Throttle, less what
// the caller has waited already. It returns how long that is by then. It does not
// wait for a disk that does nothing. A tier that is off is ready: it will not be
// more so soon.
func (t *Tier) Ready(waited time.Duration) (inAll time.Duration, ok bool) {
	l := t.log
	if !l.behind.Load() || t.state.Load() != on {
		return waited, true
	}
	now := l.flushed.Load()
	if waited >= t.cfg.Throttle || t.stuckAt.Load() == now+1 {
		return waited, false
	}
	began := time.Now()
	if ok = l.waitRoom(t.cfg.Throttle - waited); !ok {
		t.stuckAt.Store(now + 1)
	}
	return waited + time.Since(began), ok
}

// chargePatience is how long each step of what RAM lends to the tier waits for
// the disk at most.
const chargePatience = 200 * time.Millisecond

// WaitRoom waits until the log has room. It reports false if the disk does
// nothing, or the tier is off.
func (t *Tier) WaitRoom() bool {
	return t.state.Load() == on && t.log.waitRoom(t.cfg.Patience)
}

// chargeMemory tells what the tier takes, and allows the index more. RAM makes
// room for it: that is done in steps which the log has room for.
func (t *Tier) chargeMemory(more int64) error {
	t.charging.Lock()
	defer t.charging.Unlock()
	missing := t.fixed + t.index.allowed.Load() - t.charged
	for first := true; first || more > 0; first = false {
		step := min(more, int64(t.log.segBytes()/16))
		if err := t.charge(missing + step); err != nil {
			return err
		}
		t.charged += missing + step
		t.index.allowed.Add(step)
		more, missing = more-step, 0
		if t.log.freeSlots() > 0 { // otherwise who calls has to make room first
			t.log.waitRoom(chargePatience)
		}
	}
	return nil
}

// poke wakes the keeper.
func (t *Tier) poke() {
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// keep is the tier's housekeeping: it makes room in the log, folds the journal,
// gives the index memory, and writes what has waited for long.
func (t *Tier) keep() {
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for {
		select {
		case <-t.quit:
			return
		case <-tick.C:
			t.log.tick()
			t.noteTime()
		case <-t.wake:
		}
		t.tidy()
	}
}

// noteTime notes how late it is, if anything ever expires: after the process
// died, the clock is not believed to be earlier.
func (t *Tier) noteTime() {
	if t.state.Load() != on || !t.expires.Load() {
		return
	}
	err := t.journal.commitSpare(note{kind: noteTime, at: uint64(t.Now())})
	if err != nil && !errors.Is(err, errJournalFull) {
		t.switchOff(err)
	}
}

// tidy does what there is to do.
func (t *Tier) tidy() {
	if t.state.Load() != on {
		return
	}
	for t.makeRoom() {
		select {
		case <-t.quit:
			return
		default:
		}
	}
	if more := t.index.wantsMemory(); more > 0 && t.growing.CompareAndSwap(false, true) {
		t.keeping.Go(func() { t.grow(more) })
	}
}

// grow gives the index more memory. It has a goroutine of its own: what leaves
// RAM for it is reported to the user, who may write to the cache, and a write may
// have to wait for the keeper.
func (t *Tier) grow(more int64) {
	defer t.growing.Store(false)
	if t.chargeMemory(more) != nil {
		t.index.most.Store(t.index.allowed.Load()) // RAM has no more to give
	}
}

// makeRoom folds the journal and reclaims a segment, where there is need to. It
// reports whether there may be more to do.
func (t *Tier) makeRoom() bool {
	t.restarting.Lock()
	defer t.restarting.Unlock()
	folding := t.fold()
	return !t.recovering.Load() && (t.reclaim() || folding)
}

// Close writes what is in memory, saves the index and closes the files. The
// caller has stopped using the tier.
func (t *Tier) Close() error {
	if t.state.Swap(closed) == closed {
		return nil
	}
	t.health.stop()
	close(t.quit)
	var err error
	switch {
	case !t.ends(func() { t.stopRecovery(); t.keeping.Wait() }): // what is reclaimed must be before the index is saved
		err = errStuck
	case !t.health.isOff():
		err = t.saveAll()
	}
	t.log.close()
	t.journal.fail(errClosed)
	if !t.health.stuck.Load() && !t.ends(t.running.Wait) && err == nil {
		err = errStuck
	}
	err = errors.Join(err, t.closeFiles())
	if !t.health.stuck.Load() && t.void() == nil { // otherwise a write may yet ask for its note
		t.index.clear(nil)
	}
	_ = t.index.region.Decommit(0, t.index.region.Size())
	t.lines.wait(t.cfg.Patience)
	return err
}

// ends waits for goroutines of the tier, but no longer than its patience: what is
// stuck in the system keeps its goroutine, and what that can reach.
func (t *Tier) ends(wait func()) bool {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		wait()
	}()
	timer := time.NewTimer(t.cfg.Patience)
	defer timer.Stop()
	select {
	case <-ended:
		return true
	case <-timer.C:
		t.health.stuck.Store(true)
		return false
	}
}

// Free gives the address space back. The caller knows that nobody can use the
// tier any more, not even to be told that it is closed.
func (t *Tier) Free() {
	if t.health.stuck.Load() {
		return // the system may yet write to the file from there
	}
	if t.index != nil {
		_ = t.index.region.Release()
	}
	for _, b := range t.buffers {
		_ = offheap.Free(b)
	}
}

var (
	errClosed = errors.New("ssd: closed")
	errStuck  = errors.New("ssd: the disk does not take what is to be written; what was written is there at the next Open")
)

// saveAll writes the rest of the log and the index, and marks the log clean once
// everything has reached the device.
func (t *Tier) saveAll() error {
	if err := t.noteLast(); err != nil {
		return err
	}
	l := t.log
	l.mu.Lock()
	if l.open != nil {
		l.seal()
	}
	l.mu.Unlock()
	if !l.flushWithin(l.lsn(l.nextSerial(), 0), t.cfg.Patience) {
		t.health.stuck.Store(true)
		return errStuck
	}
	if t.health.isOff() {
		return nil
	}
	if err := t.logFile.Sync(); err != nil {
		return t.lost(err)
	}
	if err := t.journal.file.Sync(); err != nil {
		return t.lost(err)
	}
	t.super.Lock()
	defer t.super.Unlock()
	s := &t.super.superblock
	s.snapshot = 0
	if !t.recovering.Load() && t.index.complete() {
		id, err := t.saveSnapshot()
		if err != nil {
			t.lines.warn("firn: SSD tier: no snapshot of the index; the next Open reads the log", "error", err)
		}
		s.snapshot = id
	}
	s.clean, s.nextSeg, s.lastTime = true, l.nextSerial(), max(s.lastTime, t.Now())
	if err := writeSuperblock(t.super.file, s); err != nil {
		return err
	}
	t.super.saved = true
	if err := t.super.file.Sync(); err != nil {
		return err
	}
	return t.cfg.FS.SyncDir()
}

// noteLast writes the notes that writes still wait for. It does not wait for ever
// for a disk that is stuck.
func (t *Tier) noteLast() error {
	done := make(chan error, 1)
	go func() {
		notes := t.index.unnoted()
		err := t.journal.commitNow(notes...)
		if errors.Is(err, errJournalFull) {
			t.restarting.Lock() // against a Clear: the keeper has ended
			t.fold()
			t.restarting.Unlock()
			err = t.journal.commitLast(notes...)
		}
		done <- err
	}()
	select {
	case err := <-done:
		if err != nil {
			return t.lost(err)
		}
		return nil
	case <-time.After(t.cfg.Patience):
		t.health.stuck.Store(true)
		return errStuck
	}
}

// lost voids the log when it cannot be closed: after a sync that failed the system
// may have dropped what it had not written by then.
func (t *Tier) lost(cause error) error { return errors.Join(cause, t.void()) }

func (l *log) nextSerial() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.next
}

func (l *log) close() {
	l.mu.Lock()
	l.closed = true
	l.changed.Broadcast()
	l.mu.Unlock()
}

// closeFiles closes what is open.
func (t *Tier) closeFiles() error {
	var errs []error
	if t.reader != nil {
		errs = append(errs, t.reader.Close())
	}
	for _, f := range []vfs.File{t.logFile, t.super.file} {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	if t.journal != nil {
		errs = append(errs, t.journal.file.Close())
	}
	return errors.Join(append(errs, t.lock.Close())...)
}

// abandon undoes an Open that failed.
func (t *Tier) abandon() {
	_ = t.closeFiles()
	t.Free()
	t.lines.wait(t.cfg.Patience)
}

// background is for what no caller waits for.
var background = context.Background()
