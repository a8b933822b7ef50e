package ssd

import (
	"math"
	"sync/atomic"

	"github.com/firncache/firn/internal/offheap"
	"github.com/firncache/firn/internal/vfs"
)

// indexMemory is where the index lies, with what it takes to find records by it:
// which segment each slot of the log has, and how far the log was written. Where
// the system has memory that outlives the process, it is that: whoever opens the
// files after the process was killed goes on with the index as it was.
//
//	┌────────┬───────────────┬─────────────────┬────────────────────────────┐
//	│  head  │ slotWords × n │ shardHead × n   │ tables, one for each shard │
//	└────────┴───────────────┴─────────────────┴────────────────────────────┘
//
// Its words are the machine's: no other reads them.
type indexMemory struct {
	memoryShape
	region *offheap.Region
	kept   vfs.Memory // nil: it ends with the process
	head   *memoryHead
}

// memoryShape says how an indexMemory is divided.
type memoryShape struct {
	slots     uint32 // of the log
	shards    uint32
	stride    uint64 // words that each shard's table can grow to, slack included
	segShift  uint8
	unitShift uint8
	locBits   uint8
}

// memoryHead is the beginning of an indexMemory.
type memoryHead struct {
	magic   uint64
	logID   uint64 // the log that the index is of
	shape   [4]uint64
	valid   atomic.Uint64 // 1: the index says what the log has; 0: nothing does
	flushed atomic.Uint64 // everything before this LSN has been written
	next    atomic.Uint64 // serial of the next segment
	now     atomic.Int64  // milliseconds since 1970: it was this late
	_       [memoryHeadLen - 10*8]byte
}

// noteTime makes the next process not believe in an earlier time.
func (h *memoryHead) noteTime(now int64) {
	for last := h.now.Load(); now > last && !h.now.CompareAndSwap(last, now); last = h.now.Load() {
	}
}

const (
	memoryMagic   = 0x3278646e72696600 | FormatVersion
	memoryHeadLen = 4096
)

// slotWords is what the memory has of a slot.
type slotWords struct {
	serial  atomic.Uint64 // of the segment; 0: nothing of worth
	written atomic.Uint64 // weight of all records that were appended there
	until   atomic.Uint64 // when the last of them has expired, in milliseconds since 1970; forever: not all do
}

const forever = math.MaxInt64

// shardHead is what the memory has of a shard, beside its table.
type shardHead struct {
	homes  atomic.Uint32 // entries have their homes in so many slots
	moving atomic.Uint32 // 1: entries are being given other homes
}

const (
	slotWordsLen = 24
	shardHeadLen = 8
)

func (m *memoryShape) headsAt() uint64 { return memoryHeadLen + slotWordsLen*uint64(m.slots) }

func (m *memoryShape) tablesAt() uint64 {
	const line = 64
	return (m.headsAt() + shardHeadLen*uint64(m.shards) + line - 1) &^ (line - 1)
}

func (m *memoryShape) bytes() uint64 { return m.tablesAt() + 8*m.stride*uint64(m.shards) }

// fits reports whether so many bytes have room for it.
func (m *memoryShape) fits(n int) bool {
	return m.shards <= 1<<maxShardBits && m.stride <= uint64(n) && m.bytes() <= uint64(n)
}

func (m *memoryShape) words() [4]uint64 {
	return [4]uint64{uint64(m.slots), uint64(m.shards), m.stride, uint64(m.segShift) | uint64(m.unitShift)<<8 | uint64(m.locBits)<<16}
}

func shapeOf(words [4]uint64) memoryShape {
	return memoryShape{uint32(words[0]), uint32(words[1]), words[2], uint8(words[3]), uint8(words[3] >> 8), uint8(words[3] >> 16)}
}

// newMemory makes the memory of an empty index, if it can, of the kind that
// outlives the process. why says why it is not of that kind, nil if it is.
func newMemory(shape memoryShape, keeper vfs.MemoryKeeper) (m *indexMemory, why, err error) {
	m = &indexMemory{memoryShape: shape}
	if keeper != nil {
		if m.kept, why = keeper.NewMemory(int64(shape.bytes())); why == nil {
			m.region = offheap.Over(m.kept.Bytes())
		}
	}
	if m.region == nil {
		if m.region, err = offheap.Reserve(shape.bytes()); err != nil {
			return nil, why, err
		}
	}
	m.head = offheap.At[memoryHead](m.region, 0)
	m.head.magic, m.head.shape = memoryMagic, shape.words()
	return m, why, nil
}

// openMemory finds the index of a log that a process left. nil if there is none
// that says what the log has.
func openMemory(keeper vfs.MemoryKeeper, id vfs.MemoryID, logID uint64) *indexMemory {
	kept, err := keeper.OpenMemory(id)
	if err != nil {
		return nil
	}
	b := kept.Bytes()
	if len(b) < memoryHeadLen {
		_ = kept.Close()
		return nil
	}
	m := &indexMemory{region: offheap.Over(b), kept: kept}
	m.head = offheap.At[memoryHead](m.region, 0)
	m.memoryShape = shapeOf(m.head.shape)
	if m.head.magic != memoryMagic || m.head.logID != logID || m.head.valid.Load() != 1 || m.words() != m.head.shape || !m.fits(len(b)) {
		_ = kept.Close()
		return nil
	}
	return m
}

// id is what the next process finds the memory by; zero if it will not.
func (m *indexMemory) id() vfs.MemoryID {
	if m.kept == nil {
		return vfs.MemoryID{}
	}
	return m.kept.ID()
}

func (m *indexMemory) slotWords() []slotWords {
	return offheap.View[slotWords](m.region.Bytes(memoryHeadLen, slotWordsLen*int(m.slots)))
}

func (m *indexMemory) shardHeads() []shardHead {
	return offheap.View[shardHead](m.region.Bytes(m.headsAt(), shardHeadLen*int(m.shards)))
}

// tableAt is where the table of a shard begins.
func (m *indexMemory) tableAt(shard int) uint64 { return m.tablesAt() + 8*m.stride*uint64(shard) }

func (m *indexMemory) table(shard int) []uint64 {
	return offheap.View[uint64](m.region.Bytes(m.tableAt(shard), 8*int(m.stride)))
}

// forget gives the memory back, for good: no other process goes on with it. The
// addresses stay valid until release.
func (m *indexMemory) forget() {
	m.head.valid.Store(0)
	if m.kept != nil {
		_ = m.kept.Remove()
	}
	_ = m.region.Decommit(memoryHeadLen, m.region.Size()-memoryHeadLen)
}

// release takes the memory out of the address space. Nobody uses it any more.
func (m *indexMemory) release() {
	_ = m.region.Release()
	if m.kept != nil {
		_ = m.kept.Close()
	}
}
