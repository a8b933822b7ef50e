package check

import (
	"github.com/firncache/firn/internal/ssd/files"
	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/ssd/index"
	"github.com/firncache/firn/internal/vfs"
)

// openMemory is the index of a log that was not closed, if it outlived its process; nil if not.
func openMemory(dir vfs.FS, s *format.Superblock) *files.Memory {
	keeper, ok := dir.(vfs.MemoryKeeper)
	if !ok || s.Clean || s.Memory == (format.MemoryID{}) {
		return nil
	}
	m, err := files.OpenMemory(keeper, vfs.MemoryID(s.Memory), s.LogID)
	if m == nil || err != nil {
		return nil
	}
	if !m.Describes(s) {
		m.Release()
		return nil
	}
	return m
}

// slotsOf is what the memory has of the slots.
func slotsOf(m *files.Memory) (slots []format.SlotState) {
	words := m.SlotWords()
	for i := range words {
		slots = append(slots, format.SlotState{Serial: words[i].Serial.Load()})
	}
	return slots
}

// entriesOf counts the entries of the memory whose records were written, and lists those of the
// ids that end in zeros under a mask.
func entriesOf(m *files.Memory, s *format.Superblock, mask format.ID) (records int64, listed map[format.ID]format.Location) {
	slots, flushed, g := m.SlotWords(), m.Head.Flushed.Load(), m.Geometry()
	written := func(loc format.Location) bool {
		slot, off := g.Place(loc)
		if slot >= len(slots) || off < format.SegmentHeaderLen {
			return false
		}
		serial := slots[slot].Serial.Load()
		return serial != 0 && g.LSN(serial, off) < flushed
	}
	x := index.New(uint(s.ShardBits), m, true)
	listed = map[format.ID]format.Location{}
	var entries []uint64
	for i := range x.Shards {
		entries, _ = x.Shards[i].Survivors(entries[:0], written)
		records += int64(len(entries))
		for _, w := range entries {
			e := format.Entry(w)
			if id := format.ID(i)<<(format.IDBits-s.ShardBits) | format.ID(x.Fingerprint(e)); id&mask == 0 && len(listed) < 4*maxSampled {
				listed[id] = x.Location(e)
			}
		}
	}
	return records, listed
}
