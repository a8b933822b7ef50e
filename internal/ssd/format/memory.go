package format

import (
	"math"
	"math/bits"
	"sync/atomic"

	"github.com/firncache/firn/internal/registry"
)

// MemoryShape says how the memory of an index is divided:
//
//	┌────────┬──────────┬───────────────┬───────────────┬────────────────────────────┐
//	│  head  │ registry │ SlotWords × n │ ShardHead × n │ tables, one for each shard │
//	└────────┴──────────┴───────────────┴───────────────┴────────────────────────────┘
//
// It is in use while the cache is, and after its process was killed: memory that outlives the
// process but not the machine, on Linux a segment of System V shared memory, which its
// process's user and no other may read. Its words have the machine's byte order, are aligned to
// their size, and are stored at once.
//
// A table is one of open addressing: capacity + 32 words, each an entry or 0, with the entries
// in rising order. An entry's home is ⌊f · capacity / 2^m⌋, f its fingerprint of m bits; it
// stands there or behind it, with no gap between. To make room for an entry, those behind it
// move by one, the last first; to close a gap they move back, the first first. Each is written
// to its new place before its old one is overwritten, so a process that is killed leaves at
// worst one entry twice, in two neighboring words: the next process keeps one of them. A table
// that was being given other homes is not used.
//
// The registry's clock is raised before a place gets it, and a place only grows. In a copy with
// more places all whose numbers end in the bits of an old place get what it has; in one with
// fewer the later clock and the earlier moment count.
//
// An entry is used if it names a place behind a segment's header, in a slot with a serial, at
// an LSN before Flushed.
type MemoryShape struct {
	Slots        uint32 // of the log
	Shards       uint32
	Stride       uint64 // words that each shard's table can grow to, slack included
	SegmentShift uint8
	UnitShift    uint8
	LocationBits uint8
	Places       uint32 // of the registry: 0, or a power of two
}

// MemoryHead is the beginning of the memory of an index.
type MemoryHead struct {
	Magic   uint64
	LogID   uint64 // the log that the index is of
	Shape   [4]uint64
	Valid   atomic.Uint64 // 1: the index describes the log; 0: nothing does
	Flushed atomic.Uint64 // everything before this LSN has been written
	Next    atomic.Uint64 // serial of the next segment
	Now     atomic.Int64  // milliseconds since 1970: it was this late
	Started atomic.Int64  // milliseconds since 1970: when the machine was started, by the same clock; 0: not known
	_       [MemoryHeadLen - 11*8]byte
}

// NoteTime makes the next process not believe in an earlier time.
func (h *MemoryHead) NoteTime(now int64) {
	for last := h.Now.Load(); now > last && !h.Now.CompareAndSwap(last, now); last = h.Now.Load() {
	}
}

const (
	memoryMagic   = 0x3278646e72696600 | Version
	MemoryHeadLen = 4096
)

// SlotWords is the state of a slot in the memory.
type SlotWords struct {
	Serial  atomic.Uint64 // of the segment; 0: nothing of worth
	Written atomic.Uint64 // weight of all records that were appended there
	Until   atomic.Uint64 // when the last of them has expired, in milliseconds since 1970; forever: not all do
}

// Forever is when a segment has expired with a record that does not.
const Forever = math.MaxInt64

// ShardHead is the state of a shard in the memory, beside its table.
type ShardHead struct {
	Capacity atomic.Uint32 // how many slots are homes of entries
	Moving   atomic.Uint32 // 1: entries are being given other homes
}

const (
	TablePage    = 4096 // bytes: tables begin at multiples of it
	SlotWordsLen = 24
	ShardHeadLen = 8
)

// Init makes the head that of an index of no log yet.
func (h *MemoryHead) Init(shape MemoryShape) { h.Magic, h.Shape = memoryMagic, shape.Words() }

// Parse is the shape of the memory behind the head, if it is the index of a log, describes
// the log, and fits into so many bytes.
func (h *MemoryHead) Parse(logID uint64, size int) (shape MemoryShape, ok bool) {
	shape = ShapeOf(h.Shape)
	return shape, h.Magic == memoryMagic && h.LogID == logID && h.Valid.Load() == 1 && shape.Words() == h.Shape && shape.fits(size)
}

// Geometry is that of the log.
func (m *MemoryShape) Geometry() Geometry { return Geometry{uint(m.SegmentShift), uint(m.UnitShift)} }

// RegistryBytes is the length of the registry.
func (m *MemoryShape) RegistryBytes() int {
	if m.Places == 0 {
		return 0
	}
	return registry.Bytes(int(m.Places))
}

// SlotsAt is where the states of the log's slots begin: behind the registry.
func (m *MemoryShape) SlotsAt() uint64 { return MemoryHeadLen + uint64(m.RegistryBytes()) }

// HeadsAt is where the heads of the shards begin.
func (m *MemoryShape) HeadsAt() uint64 { return m.SlotsAt() + SlotWordsLen*uint64(m.Slots) }

// tablesAt is where the tables begin.
func (m *MemoryShape) tablesAt() uint64 {
	return (m.HeadsAt() + ShardHeadLen*uint64(m.Shards) + TablePage - 1) &^ (TablePage - 1)
}

// TableAt is where the table of a shard begins.
func (m *MemoryShape) TableAt(shard int) uint64 { return m.tablesAt() + 8*m.Stride*uint64(shard) }

// Bytes is the length of all.
func (m *MemoryShape) Bytes() uint64 { return m.tablesAt() + 8*m.Stride*uint64(m.Shards) }

// placesOf is how many places a registry has, of which a word is one more than the logarithm;
// 0 if no registry has so many.
func placesOf(word uint64) uint32 {
	if n := uint64(1) << word >> 1; n >= registry.MinPlaces && n <= registry.MaxPlaces {
		return uint32(n)
	}
	return 0
}

// fits reports whether so many bytes have room for it.
func (m *MemoryShape) fits(n int) bool {
	return m.Shards <= 1<<MaxShardBits && m.Stride <= uint64(n) && m.Bytes() <= uint64(n)
}

// Words are the shape as it stands in the head.
func (m *MemoryShape) Words() [4]uint64 {
	return [4]uint64{uint64(m.Slots), uint64(m.Shards), m.Stride, uint64(m.SegmentShift) | uint64(m.UnitShift)<<8 | uint64(m.LocationBits)<<16 | uint64(bits.Len32(m.Places))<<24}
}

// ShapeOf is the shape that stands in a head.
func ShapeOf(words [4]uint64) MemoryShape {
	return MemoryShape{uint32(words[0]), uint32(words[1]), words[2], uint8(words[3]), uint8(words[3] >> 8), uint8(words[3] >> 16), placesOf(words[3] >> 24)}
}
