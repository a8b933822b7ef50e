package ssd

import (
	"errors"
	"fmt"
	"log/slog"
	"math/bits"
	"time"

	"github.com/firncache/firn/internal/offheap"
	"github.com/firncache/firn/internal/registry"
	"github.com/firncache/firn/internal/ssd/files"
	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/ssd/index"
	"github.com/firncache/firn/internal/ssd/log"
	"github.com/firncache/firn/internal/vfs"
)

// Open opens the files of a tier, or makes them. It decides which of them are
// kept, and recovers nothing yet: see Start.
func Open(cfg Config) (*Tier, error) {
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	if cfg.StallTimeout <= 0 {
		cfg.StallTimeout = 10 * time.Second
	}
	if cfg.MaxWriteStall <= 0 {
		cfg.MaxWriteStall = 200 * time.Millisecond
	}
	if cfg.Machine == nil {
		cfg.Machine = func() int64 { return 0 }
	}
	if cfg.BootID == nil {
		cfg.BootID = files.BootID
	}
	keeper, _ := cfg.FS.(vfs.MemoryKeeper)
	tracked := files.NewTrackedFS(cfg.FS)
	cfg.FS = tracked
	t := &Tier{cfg: cfg, tracked: tracked, keeper: keeper, work: work{quit: make(chan struct{}), wake: make(chan struct{}, 1)}}
	t.grace.Store(cfg.Grace)
	t.clock.system, t.clock.machine = cfg.Now, cfg.Machine
	t.health.SetOutput(cfg.Log)
	t.admission.Init(cfg.Admission, cfg.Memory, cfg.WriteBudget, t.Now)
	tracked.Wrote = t.wrote
	var err error
	if t.lock, err = files.Lock(tracked.FS); err != nil {
		return nil, err
	}
	if err := t.open(); err != nil {
		t.abandon()
		return nil, err
	}
	return t, nil
}

// wrote counts the bytes written to any of the files.
func (t *Tier) wrote(n int) {
	t.count.written.Add(uint64(n))
	t.admission.Budget.Wrote(n)
	if t.admission.Budget.Due() {
		t.work.wakeMaintenance()
	}
}

// open is Open once the lock is held.
func (t *Tier) open() (err error) {
	if err := files.Claim(t.cfg.FS); err != nil {
		return err
	}
	if t.super.file, err = t.cfg.FS.Open("superblock", vfs.OpenOptions{Create: true}); err != nil {
		return err
	}
	why, err := t.decideSource()
	if err != nil {
		return err
	}
	t.admission.Budget.Resume(t.super.Budget)
	t.ids = t.super.IDs(t.cfg.HashMask)
	if err := t.openLog(); err != nil {
		return err
	}
	if err := t.allocateMemory(); err != nil {
		return err
	}
	if err = t.prepareFiles(why); vfs.NoSpace(err) {
		return t.startOffline(err)
	}
	return err
}

// openLog opens the log, past the page cache if the configuration has that, and the system can.
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
		if t.logFile, err = t.cfg.FS.Open(format.LogName, vfs.OpenOptions{Create: true}); err != nil {
			return err
		}
	}
	t.logBytes = int64(t.super.Segments * t.super.SegmentBytes)
	t.reader, err = t.openReader()
	return err
}

// allocateMemory makes the tier's memory.
func (t *Tier) allocateMemory() (err error) {
	s := &t.super.Superblock
	segBytes := int(s.SegmentBytes)
	var bufs [][]byte
	for range segmentBuffers {
		b, err := offheap.Alloc(segBytes + files.BlockBytes)
		if err != nil {
			return err
		}
		t.allocated = append(t.allocated, b)
		bufs = append(bufs, aligned(b, segBytes))
	}
	m, err := t.indexMemoryFor(s)
	if err != nil {
		return err
	}
	t.log = log.New(m, bufs, t.usable, s.LogID, t.Now, &t.grace)
	t.index = index.New(uint(s.ShardBits), m, m == t.leftMemory)
	t.registry = registry.New(m.Registry(), s.Seed)
	t.index.NeedMemory, t.log.WakeMaintenance = t.work.wakeMaintenance, t.work.wakeMaintenance
	t.memory.index, t.memory.log, t.memory.fixed = t.index, t.log, t.cfg.fixedMemory(s)
	t.flusher = log.NewWriter(t.log, t.logFile, t.onSegmentFailed, t.health.SegmentWritten)
	return nil
}

// indexMemoryFor is the memory for the index of a log: an earlier process's, if it is
// of that size.
func (t *Tier) indexMemoryFor(s *format.Superblock) (*files.Memory, error) {
	shape := format.MemoryShape{
		Slots: uint32(s.Segments), Shards: 1 << s.ShardBits, Stride: uint64(t.cfg.maxIndex()>>s.ShardBits/8) &^ (format.TablePage/8 - 1),
		SegmentShift: uint8(bits.TrailingZeros64(s.SegmentBytes)), UnitShift: s.UnitShift, LocationBits: s.LocationBits,
		Places: uint32(t.cfg.places()),
	}
	if index.MostCapacity(int64(shape.Stride)) < index.MinCapacity {
		return nil, fmt.Errorf("ssd: index of %d bytes: want at least %d for %d shards", t.cfg.maxIndex(), index.MinBytes(1<<s.ShardBits), 1<<s.ShardBits)
	}
	if t.leftMemory != nil && t.leftMemory.MemoryShape == shape {
		return t.leftMemory, nil
	}
	m, why, err := files.NewMemory(shape, t.keeper)
	if why != nil {
		t.health.Warn("firn: SSD tier: the system has no memory that outlives the process; after a crash the tier starts empty", "error", why)
	}
	return m, err
}

// aligned is the part of mem, n bytes long, that begins at a block. mem is a
// block longer than n.
func aligned(mem []byte, n int) []byte {
	skip := offheap.Misaligned(mem, files.BlockBytes)
	return mem[skip : skip+n : skip+n]
}

// prepareFiles gives the files the sizes that the superblock has. When it returns
// nil, an empty log has begun, or Start finds the index of the records in the files.
func (t *Tier) prepareFiles(why string) error {
	if err := t.super.file.Allocate(2 * format.SuperblockBytes); err != nil {
		return err
	}
	if err := t.logFile.Allocate(t.logBytes); err != nil {
		return err
	}
	t.fileBytes.Store(t.logBytes)
	if t.source != fromScratch {
		return nil
	}
	if err := t.startEmpty(why); err != nil {
		return err
	}
	t.removeOld(format.SnapshotTempName, format.SnapshotName)
	return t.cfg.FS.SyncDir()
}

// abandon undoes an Open that failed. The data of an earlier process stay.
func (t *Tier) abandon() {
	_ = t.closeFiles()
	t.leaveMemory(t.index != nil && t.index.Memory != t.leftMemory)
	_ = t.lock.Close()
	t.Free()
	t.health.Wait(background, t.cfg.StallTimeout)
}
