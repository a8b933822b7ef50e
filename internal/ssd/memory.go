package ssd

import (
	"github.com/firncache/firn/internal/offheap"
	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/vfs"
)

// indexMemory is where the index lies, with what it takes to find records by it:
// which segment each slot of the log has, and how far the log was written. Where
// the system has memory that outlives the process, it is that: whoever opens the
// files after the process was killed goes on with the index as it was.
type indexMemory struct {
	format.MemoryShape
	region *offheap.Region
	kept   vfs.Memory // nil: it ends with the process
	head   *format.MemoryHead
}

// newMemory makes the memory of an empty index, if it can, of the kind that
// outlives the process. why says why it is not of that kind, nil if it is.
func newMemory(shape format.MemoryShape, keeper vfs.MemoryKeeper) (m *indexMemory, why, err error) {
	m = &indexMemory{MemoryShape: shape}
	if keeper != nil {
		if m.kept, why = keeper.NewMemory(int64(shape.Bytes())); why == nil {
			m.region = offheap.Over(m.kept.Bytes())
		}
	}
	if m.region == nil {
		if m.region, err = offheap.Reserve(shape.Bytes()); err != nil {
			return nil, why, err
		}
	}
	m.head = offheap.At[format.MemoryHead](m.region, 0)
	m.head.Init(shape)
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
	if len(b) < format.MemoryHeadLen {
		_ = kept.Close()
		return nil
	}
	m := &indexMemory{region: offheap.Over(b), kept: kept}
	m.head = offheap.At[format.MemoryHead](m.region, 0)
	var ok bool
	if m.MemoryShape, ok = m.head.Parse(logID, len(b)); !ok {
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

func (m *indexMemory) slotWords() []format.SlotWords {
	return offheap.View[format.SlotWords](m.region.Bytes(format.MemoryHeadLen, format.SlotWordsLen*int(m.Slots)))
}

func (m *indexMemory) shardHeads() []format.ShardHead {
	return offheap.View[format.ShardHead](m.region.Bytes(m.HeadsAt(), format.ShardHeadLen*int(m.Shards)))
}

func (m *indexMemory) table(shard int) []uint64 {
	return offheap.View[uint64](m.region.Bytes(m.TableAt(shard), 8*int(m.Stride)))
}

// forget gives the memory back, for good: no other process goes on with it. The
// addresses stay valid until release.
func (m *indexMemory) forget() {
	m.head.Valid.Store(0)
	if m.kept != nil {
		_ = m.kept.Remove()
	}
	_ = m.region.Decommit(format.MemoryHeadLen, m.region.Size()-format.MemoryHeadLen)
}

// release takes the memory out of the address space. Nobody uses it any more.
func (m *indexMemory) release() {
	_ = m.region.Release()
	if m.kept != nil {
		_ = m.kept.Close()
	}
}
