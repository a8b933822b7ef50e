package ssd

import (
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"

	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/vfs"
)

// decide reads the superblock, and plans where the index of the log that it describes
// comes from. If that log is not kept, why says so, and the superblock describes a new
// one.
func (t *Tier) decide() (why string, err error) {
	super, err := format.ReadSuperblock(t.super.file)
	var grown uint64
	switch {
	case t.cfg.Recovery == RecoverNever:
		why = "asked to"
	case errors.Is(err, ErrFormat):
		return "", err
	case errors.Is(err, format.ErrOlder):
		why = "an earlier version of this package wrote the files"
		t.removeOld("journal") // which version 1 had, and no later one counts
	case errors.Is(err, format.ErrCorrupt):
		why, t.blank = "no valid superblock", true
		if n, err := t.super.file.Size(); err == nil && n == 0 {
			why = "new"
		}
	case err != nil:
		return "", fmt.Errorf("ssd: superblock: %w", err)
	default:
		grown, why = t.mismatch(&super)
	}
	switch {
	case why != "":
	case super.Clean:
		t.plan = fromSnapshot
	case t.findMemory(&super):
		t.plan = fromMemory
	case t.cfg.Recovery == RecoverAlways:
		t.plan = fromLog
	default:
		why = "not closed, and the index did not outlive the process: the machine went down, or keeps no memory for it"
	}
	if why != "" {
		t.discardMemory(vfs.MemoryID(super.Memory))
		fresh := t.geometry() // the old one's may not fit
		fresh.Counter, fresh.Budget = super.Counter, super.Budget
		t.super.Superblock = fresh
		return why, nil
	}
	super.Segments = grown
	t.super.Superblock = super
	t.skew.Store(max(super.Skew, super.LastTime-t.cfg.Now()))
	return "", nil
}

// mismatch says why a log cannot be kept, "" if it can: with another segment
// size, or in less space. More space is added to it: segments is how many it has
// then.
func (t *Tier) mismatch(old *format.Superblock) (segments uint64, why string) {
	switch {
	case t.cfg.SegmentBytes != 0 && uint64(t.cfg.SegmentBytes) != old.SegmentBytes:
		return 0, fmt.Sprintf("segments have %d bytes, and %d are asked for", old.SegmentBytes, t.cfg.SegmentBytes)
	case buffers*int64(old.SegmentBytes) > t.cfg.Memory/4:
		return 0, fmt.Sprintf("segments of %d bytes are too large for a RAM budget of %d", old.SegmentBytes, t.cfg.Memory)
	}
	switch now := t.geometryWith(int64(old.SegmentBytes)); {
	case now.Segments < old.Segments:
		return 0, fmt.Sprintf("it has %d segments, and there is space for %d", old.Segments, now.Segments)
	case now.Segments*old.SegmentBytes>>old.UnitShift >= 1<<old.LocationBits:
		return 0, "there is more space than its locations reach"
	case t.indexMost() < leastTables(1<<old.ShardBits):
		return 0, fmt.Sprintf("an index of %d shards is too large for a RAM budget of %d", 1<<old.ShardBits, t.cfg.Memory)
	default:
		return now.Segments, ""
	}
}

// geometry is what the superblock of a new log says.
func (t *Tier) geometry() format.Superblock {
	size := t.cfg.SegmentBytes
	if size == 0 {
		size = max(floorPow2(min(t.cfg.Bytes/64, t.cfg.Memory/32, format.MaxSegment)), format.MinSegment)
		for t.cfg.Bytes/size > t.mostSegments() && 2*size <= min(t.cfg.Memory/16, format.MaxSegment) {
			size *= 2
		}
	}
	return t.geometryWith(size)
}

func floorPow2(n int64) int64 { return 1 << (bits.Len64(uint64(max(n, 1))) - 1) }

func (t *Tier) geometryWith(segBytes int64) format.Superblock {
	s := format.Superblock{
		LogID: rand.Uint64(), Seed: rand.Uint64(),
		SegmentBytes: uint64(segBytes), UnitShift: format.MinUnitShift, NextSegment: 1,
	}
	rest := t.cfg.Bytes - 2*format.SuperblockBytes - t.snapshotMost()
	s.Segments = uint64(min(max(rest/segBytes, 0), t.mostSegments()))
	for s.Segments*s.SegmentBytes>>s.UnitShift >= 1<<format.MaxLocationBits {
		s.UnitShift++
	}
	// One bit more than it takes: the log may grow to twice its size.
	s.LocationBits = uint8(min(bits.Len64(s.Segments*s.SegmentBytes>>s.UnitShift)+1, format.MaxLocationBits))
	// A shard for each 4 MiB: some eight thousand records of half a KiB.
	for s.ShardBits < format.MaxShardBits && int64(4<<20)<<s.ShardBits < t.cfg.Bytes && t.indexMost()>>(s.ShardBits+1) >= 16<<10 {
		s.ShardBits++
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

// snapshotMost is how many of Config.Bytes are kept for the snapshot of the index:
// what it can take at most, but no more than a part of the whole.
func (t *Tier) snapshotMost() int64 { return min(t.indexMost(), t.cfg.Bytes/snapshotShare) }

const snapshotShare = 16
