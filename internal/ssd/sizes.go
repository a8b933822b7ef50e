package ssd

import (
	"fmt"
	"math/bits"
	"math/rand/v2"

	"github.com/firncache/firn/internal/record"
	"github.com/firncache/firn/internal/registry"

	"github.com/firncache/firn/internal/ssd/admission"
	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/ssd/log"
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
	// A shard for each 4 MiB: some eight thousand records of half a KiB.
	for s.ShardBits < format.MaxShardBits && int64(4<<20)<<s.ShardBits < c.Bytes && c.maxIndex()>>(s.ShardBits+1) >= 16*format.TablePage {
		s.ShardBits++
	}
	s.Segments = uint64(c.segmentsFor(segBytes, s.ShardBits, 0))
	for s.Segments*s.SegmentBytes>>s.UnitShift >= 1<<format.MaxLocationBits {
		s.UnitShift++
	}
	// One bit more than it takes: the log may grow to twice its size.
	s.LocationBits = uint8(min(bits.Len64(s.Segments*s.SegmentBytes>>s.UnitShift)+1, format.MaxLocationBits))
	return s
}

// segmentsFor is how many segments the files have room for beside the snapshot of an index
// of so many entries.
func (c *Config) segmentsFor(segBytes int64, shardBits uint8, entries int64) int64 {
	snapshot := format.SnapshotBytes(int(min(c.Bytes/segBytes, c.maxSegments())), 1<<shardBits, c.places(), entries)
	return min(max(c.Bytes-2*format.SuperblockBytes-snapshot, 0)/segBytes, c.maxSegments())
}

// maxSegments bounds the memory that slots take: a log on a disk which is that
// much larger than RAM has fewer than would fit.
func (c *Config) maxSegments() int64 { return max(c.Memory/32/log.SlotMemory, minSegments) }

// readMemory is the most that buffers for reads may take.
func (c *Config) readMemory() int64 { return min(max(c.Memory/32, 128<<10), 8<<20) }

// maxIndex is the most memory in bytes that the index may ever take.
func (c *Config) maxIndex() int64 { return c.Memory / 2 }

// segmentBuffers are the segments that memory is kept for: one fills while the other
// is written.
const segmentBuffers = 2

// minSegments is how few segments a log may have.
const minSegments = 4

// places is how many places the registry has: no more than a part of the files has
// room for.
func (c *Config) places() int {
	return registry.PlacesFor(min(c.Memory/registry.Share, c.Bytes/64))
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
	n := segmentBuffers*int64(s.SegmentBytes) + log.SlotMemory*int64(s.Segments) + format.MemoryHeadLen + c.readMemory() + int64(registry.Bytes(c.places()))
	return n + admission.Memory(c.Admission, c.Memory)
}
