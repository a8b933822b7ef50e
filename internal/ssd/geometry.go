package ssd

import (
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"
)

// decide reads the superblock, and plans where the index of the log that it describes
// comes from. If that log is not kept, why says so, and the superblock describes a new
// one.
func (t *Tier) decide() (why string, err error) {
	super, err := readSuperblock(t.super.file)
	var grown uint64
	switch {
	case t.cfg.Recovery == RecoverNever:
		why = "asked to"
	case errors.Is(err, ErrFormat):
		return "", err
	case errors.Is(err, errOlder):
		why = "an earlier version of this package wrote the files"
		t.removeOld("journal") // which version 1 had, and no later one counts
	case errors.Is(err, errCorrupt):
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
	case super.clean:
		t.plan = fromSnapshot
	case t.findMemory(&super):
		t.plan = fromMemory
	case t.cfg.Recovery == RecoverAlways:
		t.plan = fromLog
	default:
		why = "not closed, and the index did not outlive the process: the machine went down, or keeps no memory for it"
	}
	if why != "" {
		t.discardMemory(super.memory)
		fresh := t.geometry() // the old one's may not fit
		fresh.counter, fresh.budget = super.counter, super.budget
		t.super.superblock = fresh
		return why, nil
	}
	super.segments = grown
	t.super.superblock = super
	t.skew.Store(max(super.skew, super.lastTime-t.cfg.Now()))
	return "", nil
}

// mismatch says why a log cannot be kept, "" if it can: with another segment
// size, or in less space. More space is added to it: segments is how many it has
// then.
func (t *Tier) mismatch(old *superblock) (segments uint64, why string) {
	switch {
	case t.cfg.SegmentBytes != 0 && uint64(t.cfg.SegmentBytes) != old.segBytes:
		return 0, fmt.Sprintf("segments have %d bytes, and %d are asked for", old.segBytes, t.cfg.SegmentBytes)
	case buffers*int64(old.segBytes) > t.cfg.Memory/4:
		return 0, fmt.Sprintf("segments of %d bytes are too large for a RAM budget of %d", old.segBytes, t.cfg.Memory)
	}
	switch now := t.geometryWith(int64(old.segBytes)); {
	case now.segments < old.segments:
		return 0, fmt.Sprintf("it has %d segments, and there is space for %d", old.segments, now.segments)
	case now.segments*old.segBytes>>old.unitShift >= 1<<old.locationBits:
		return 0, "there is more space than its locations reach"
	case t.indexMost() < leastTables(1<<old.shardBits):
		return 0, fmt.Sprintf("an index of %d shards is too large for a RAM budget of %d", 1<<old.shardBits, t.cfg.Memory)
	default:
		return now.segments, ""
	}
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
	return t.geometryWith(size)
}

func floorPow2(n int64) int64 { return 1 << (bits.Len64(uint64(max(n, 1))) - 1) }

func (t *Tier) geometryWith(segBytes int64) superblock {
	s := superblock{
		logID: rand.Uint64(), seed: rand.Uint64(),
		segBytes: uint64(segBytes), unitShift: leastUnitShift, nextSeg: 1,
	}
	rest := t.cfg.Bytes - 2*superSlot - t.snapshotMost()
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

// snapshotMost is how many of Config.Bytes are kept for the snapshot of the index:
// what it can take at most, but no more than a part of the whole.
func (t *Tier) snapshotMost() int64 { return min(t.indexMost(), t.cfg.Bytes/snapshotShare) }

const snapshotShare = 16
