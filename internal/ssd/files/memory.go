package files

import (
	"errors"

	"github.com/firncache/firn/internal/offheap"
	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/vfs"
)

// Memory is where the index lies, with the state needed to find records by it:
// which segment each slot of the log has, and how far the log was written. Where
// the system has memory that outlives the process, it is that: the process that opens
// the files after this one was killed goes on with the index as it was.
type Memory struct {
	format.MemoryShape
	Region *offheap.Region
	Kept   vfs.Memory // nil: it ends with the process
	Head   *format.MemoryHead
}

// NewMemory makes the memory of an empty index, if it can, of the kind that
// outlives the process. why says why it is not of that kind, nil if it is.
func NewMemory(shape format.MemoryShape, keeper vfs.MemoryKeeper) (m *Memory, why, err error) {
	m = &Memory{MemoryShape: shape}
	if keeper != nil {
		if m.Kept, why = keeper.NewMemory(int64(shape.Bytes())); why == nil {
			m.Region = offheap.Over(m.Kept.Bytes())
		}
	}
	if m.Region == nil {
		if m.Region, err = offheap.Reserve(shape.Bytes()); err != nil {
			return nil, why, err
		}
	}
	m.Head = offheap.At[format.MemoryHead](m.Region, 0)
	m.Head.Init(shape)
	return m, why, nil
}

// OpenMemory finds the index of a log that a process left. nil if there is none
// that describes the log. It fails if the memory is there and still in use.
func OpenMemory(keeper vfs.MemoryKeeper, id vfs.MemoryID, logID uint64) (*Memory, error) {
	kept, err := keeper.OpenMemory(id)
	if errors.Is(err, vfs.ErrLocked) {
		return nil, err
	}
	if err != nil {
		return nil, nil
	}
	b := kept.Bytes()
	if len(b) < format.MemoryHeadLen {
		_ = kept.Close()
		return nil, nil
	}
	m := &Memory{Region: offheap.Over(b), Kept: kept}
	m.Head = offheap.At[format.MemoryHead](m.Region, 0)
	var ok bool
	if m.MemoryShape, ok = m.Head.Parse(logID, len(b)); !ok {
		_ = kept.Close()
		return nil, nil
	}
	return m, nil
}

// Describes reports whether the memory has room for the log that a superblock describes, in its
// geometry.
func (m *Memory) Describes(s *format.Superblock) bool {
	return uint64(m.Slots) >= s.Segments && m.Shards == 1<<s.ShardBits && 1<<m.SegmentShift == s.SegmentBytes && m.UnitShift == s.UnitShift && m.LocationBits == s.LocationBits
}

// ID finds the memory for the next process; zero if nothing will.
func (m *Memory) ID() vfs.MemoryID {
	if m.Kept == nil {
		return vfs.MemoryID{}
	}
	return m.Kept.ID()
}

// Registry is the memory of the registry.
func (m *Memory) Registry() []byte {
	return m.Region.Bytes(format.MemoryHeadLen, m.RegistryBytes())
}

func (m *Memory) SlotWords() []format.SlotWords {
	return offheap.View[format.SlotWords](m.Region.Bytes(m.SlotsAt(), format.SlotWordsLen*int(m.Slots)))
}

func (m *Memory) ShardHeads() []format.ShardHead {
	return offheap.View[format.ShardHead](m.Region.Bytes(m.HeadsAt(), format.ShardHeadLen*int(m.Shards)))
}

func (m *Memory) Table(shard int) []uint64 {
	return offheap.View[uint64](m.Region.Bytes(m.TableAt(shard), 8*int(m.Stride)))
}

// Leave gives the memory up: the next process may go on with it. The addresses stay valid
// until Release, and lead to nothing that another has.
func (m *Memory) Leave() {
	if m.Kept != nil {
		_ = m.Kept.Leave(m.Region.Own) // if it fails the memory stays ours, and locked, until Release
	} else {
		_ = m.Region.Decommit(0, m.Region.Size())
	}
}

// Forget is Leave for good: no other process goes on with it.
func (m *Memory) Forget() {
	m.Head.Valid.Store(0)
	if m.Kept != nil {
		_ = m.Kept.Remove()
	}
	m.Leave()
}

// Release takes the memory out of the address space. Nobody uses it any more.
func (m *Memory) Release() {
	_ = m.Region.Release()
	if m.Kept != nil {
		_ = m.Kept.Close()
	}
}
