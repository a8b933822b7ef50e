package ssd

import (
	"fmt"
	"math/bits"
	"math/rand/v2"

	"github.com/firncache/firn/internal/record"
	"github.com/firncache/firn/internal/registry"

	"github.com/firncache/firn/internal/ssd/format"
)

// newSuperblock is the superblock of a new log.
func (c *Config) newSuperblock() format.Superblock {
	size := c.SegmentBytes
	if size == 0 {
		size = max(floorPow2(min(c.Bytes/64, c.Memory/32, format.MaxSegment)), format.MinSegment)
		for c.Bytes/size > c.maxSegments() && 2*size <= min(c.Memory/16, format.MaxSegment) {
			size *= 2
		}
	}
	return c.newSuperblockWith(size)
}

func floorPow2(n int64) int64 { return 1 << (bits.Len64(uint64(max(n, 1))) - 1) }

func (c *Config) newSuperblockWith(segBytes int64) format.Superblock {
	s := format.Superblock{
		LogID: rand.Uint64(), Seed: record.NewSeed(), Fingerprint: c.Fingerprint,
		SegmentBytes: uint64(segBytes), UnitShift: format.MinUnitShift, NextSegment: 1,
	}
	rest := c.Bytes - 2*format.SuperblockBytes - c.maxSnapshot()
	s.Segments = uint64(min(max(rest/segBytes, 0), c.maxSegments()))
	for s.Segments*s.SegmentBytes>>s.UnitShift >= 1<<format.MaxLocationBits {
		s.UnitShift++
	}
	// One bit more than it takes: the log may grow to twice its size.
	s.LocationBits = uint8(min(bits.Len64(s.Segments*s.SegmentBytes>>s.UnitShift)+1, format.MaxLocationBits))
	// A shard for each 4 MiB: some eight thousand records of half a KiB.
	for s.ShardBits < format.MaxShardBits && int64(4<<20)<<s.ShardBits < c.Bytes && c.maxIndex()>>(s.ShardBits+1) >= 16<<10 {
		s.ShardBits++
	}
	return s
}

// maxSegments bounds the memory that slots take: a log on a disk which is that
// much larger than RAM has fewer than would fit.
func (c *Config) maxSegments() int64 { return max(c.Memory/32/slotMemory, minSegments) }

// readMemory is the most that buffers for reads may take.
func (c *Config) readMemory() int64 { return min(max(c.Memory/32, 128<<10), 8<<20) }

// maxIndex is the most memory in bytes that the index may ever take.
func (c *Config) maxIndex() int64 { return c.Memory / 2 }

// segmentBuffers are the segments that memory is kept for: one fills while the other
// is written.
const segmentBuffers = 2

// minSegments is how few segments a log may have.
const minSegments = 4

// maxSnapshot is how many of Config.Bytes are kept for the snapshot of the index:
// the most that it can take, but no more than a part of the whole.
func (c *Config) maxSnapshot() int64 { return min(c.maxIndex(), c.Bytes/snapshotShare) }

const snapshotShare = 16

// numbers is how many slots the registry has. What it takes of the snapshot is little
// beside the index.
func (c *Config) numbers() int {
	return registry.SlotsFor(min(c.Memory/registry.Share, c.maxSnapshot()/4))
}

// enough is an error if a log has too few segments.
func (c *Config) enough(s *format.Superblock) error {
	if s.Segments < minSegments {
		return fmt.Errorf("ssd: %d bytes hold %d segments of %d bytes: want at least %d", c.Bytes, s.Segments, s.SegmentBytes, minSegments)
	}
	return nil
}

// fixedMemory is the memory of a tier in bytes, beside the index.
func (c *Config) fixedMemory(s *format.Superblock) int64 {
	n := segmentBuffers*int64(s.SegmentBytes) + slotMemory*int64(s.Segments) + format.MemoryHeadLen + c.readMemory() + registry.Memory(c.numbers())
	if c.Admission == AdmitSeen {
		n += sketchBytes(c.Memory / sketchShare)
	}
	return n
}
