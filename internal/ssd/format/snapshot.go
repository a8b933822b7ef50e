package format

import (
	"cmp"
	"encoding/binary"
	"io"
	"math/bits"

	"github.com/firncache/firn/internal/registry"
)

const (
	SnapshotMagic     = "firnsnp1"
	SnapshotHeaderLen = 64
)

// Snapshot is all of a snapshot but the entries of the index. Its front, which is what it
// says of itself, of the slots and of the shards, stands in the file twice:
//
//	┌───────┬──────────┬─────────────────────────────┬───────┐
//	│ front │ registry │ entries of shard after shard │ front │
//	└───────┴──────────┴─────────────────────────────┴───────┘
type Snapshot struct {
	LogID   uint64
	Number  uint64
	Slots   []SlotState
	Shards  []ShardPart      // their number is a power of two
	Clocks  []registry.Words // of the registry; zeros if they are damaged
	Damaged []int64          // where in the file parts of these stand that are damaged: a front, or the registry
}

// ClockLen is the length of each part of the registry.
const ClockLen = 40

// SlotState is the state of a slot in a snapshot: see SlotWords.
type SlotState struct{ Serial, Written, Until uint64 }

// ShardPart is the state of a shard in a snapshot, beside its entries.
type ShardPart struct {
	Entries  uint32
	Checksum uint32 // of them
}

// EntriesAt is where the entries begin.
func (s *Snapshot) EntriesAt() int64 {
	return snapshotBegin(len(s.Slots), len(s.Shards), len(s.Clocks))
}

func snapshotBegin(slots, shards, clocks int) int64 {
	return frontBytes(slots, shards) + ClockLen*int64(clocks)
}

func frontBytes(slots, shards int) int64 {
	return SnapshotHeaderLen + SlotWordsLen*int64(slots) + 8*int64(shards)
}

// SnapshotBytes is the length of a snapshot.
func SnapshotBytes(slots, shards, clocks int, entries int64) int64 {
	return snapshotBegin(slots, shards, clocks) + 8*entries + frontBytes(slots, shards)
}

// RegistryAt is where the registry stands.
func (s *Snapshot) RegistryAt() int64 { return frontBytes(len(s.Slots), len(s.Shards)) }

// Fronts are where the two fronts stand.
func (s *Snapshot) Fronts() [2]int64 { return [2]int64{0, s.EntriesAt() + 8*s.Entries()} }

// Front is the part of what Encode makes that stands in the file twice.
func (s *Snapshot) Front(encoded []byte) []byte {
	return encoded[:s.RegistryAt()]
}

// Entries is how many entries there are.
func (s *Snapshot) Entries() (n int64) {
	for _, p := range s.Shards {
		n += int64(p.Entries)
	}
	return n
}

// Offsets are where the entries of each shard begin, and where the last of all end.
func (s *Snapshot) Offsets() []int64 {
	offs := make([]int64, 0, len(s.Shards)+1)
	at := s.EntriesAt()
	for _, p := range s.Shards {
		offs = append(offs, at)
		at += 8 * int64(p.Entries)
	}
	return append(offs, at)
}

// Encode makes all that stands before the entries, the first front and the registry.
func (s *Snapshot) Encode() []byte {
	b := make([]byte, SnapshotHeaderLen, s.EntriesAt())
	for _, w := range s.Slots {
		b = binary.LittleEndian.AppendUint64(b, w.Serial)
		b = binary.LittleEndian.AppendUint64(b, w.Written)
		b = binary.LittleEndian.AppendUint64(b, w.Until)
	}
	for _, p := range s.Shards {
		b = binary.LittleEndian.AppendUint32(b, p.Entries)
		b = binary.LittleEndian.AppendUint32(b, p.Checksum)
	}
	clocksAt := len(b)
	for _, words := range s.Clocks {
		for _, w := range words {
			b = binary.LittleEndian.AppendUint64(b, w)
		}
	}
	copy(b, SnapshotMagic)
	binary.LittleEndian.PutUint64(b[8:], s.LogID)
	binary.LittleEndian.PutUint64(b[16:], s.Number)
	binary.LittleEndian.PutUint32(b[24:], uint32(bits.Len(uint(len(s.Shards)))-1))
	binary.LittleEndian.PutUint32(b[32:], uint32(len(s.Slots)))
	binary.LittleEndian.PutUint32(b[40:], uint32(len(s.Clocks)))
	binary.LittleEndian.PutUint32(b[44:], Checksum(0, b[clocksAt:]))
	binary.LittleEndian.PutUint32(b[60:], Checksum(Checksum(0, b[:60]), b[SnapshotHeaderLen:clocksAt]))
	return b
}

// ReadSnapshot reads a snapshot but for its entries, from a file of size bytes. It has to be
// of the log that a superblock describes, and no longer or shorter than it says. One front
// that is whole is enough. Its errors are ErrCorrupt, io.ErrUnexpectedEOF for another length,
// and those of reading.
func ReadSnapshot(f io.ReaderAt, size int64, super *Superblock) (*Snapshot, error) {
	front := make([]byte, frontBytes(int(super.Segments), 1<<super.ShardBits))
	if int64(len(front)) > size {
		return nil, io.ErrUnexpectedEOF
	}
	var found *Snapshot
	var damaged []int64
	var why error
	var checksum uint32 // of the registry
	for _, at := range [2]int64{0, size - int64(len(front))} {
		err := ReadFull(f, front, at)
		if err == nil && found == nil {
			if found, err = parseFront(front, size, super); err == nil {
				checksum = binary.LittleEndian.Uint32(front[44:])
			}
		} else if err == nil {
			_, err = parseFront(front, size, super)
		}
		if err != nil {
			damaged, why = append(damaged, at), cmp.Or(why, err)
		}
	}
	if found == nil {
		return nil, why
	}
	found.Damaged = damaged
	return found, found.readClocks(f, checksum)
}

// parseFront parses a front of a file of size bytes. The registry's clocks are left 0.
func parseFront(b []byte, size int64, super *Superblock) (*Snapshot, error) {
	s := &Snapshot{LogID: binary.LittleEndian.Uint64(b[8:]), Number: binary.LittleEndian.Uint64(b[16:])}
	words, dir := b[SnapshotHeaderLen:], b[SnapshotHeaderLen+SlotWordsLen*super.Segments:]
	words = words[:len(words)-len(dir)]
	if string(b[:8]) != SnapshotMagic || binary.LittleEndian.Uint32(b[60:]) != Checksum(Checksum(0, b[:60]), b[SnapshotHeaderLen:]) || s.LogID != super.LogID ||
		binary.LittleEndian.Uint32(b[24:]) != uint32(super.ShardBits) || uint64(binary.LittleEndian.Uint32(b[32:])) != super.Segments {
		return nil, ErrCorrupt
	}
	s.Slots = make([]SlotState, 0, super.Segments)
	for ; len(words) > 0; words = words[SlotWordsLen:] {
		s.Slots = append(s.Slots, SlotState{binary.LittleEndian.Uint64(words), binary.LittleEndian.Uint64(words[8:]), binary.LittleEndian.Uint64(words[16:])})
	}
	s.Shards = make([]ShardPart, 0, 1<<super.ShardBits)
	for ; len(dir) > 0; dir = dir[8:] {
		s.Shards = append(s.Shards, ShardPart{binary.LittleEndian.Uint32(dir), binary.LittleEndian.Uint32(dir[4:])})
	}
	clocks := int(binary.LittleEndian.Uint32(b[40:]))
	if SnapshotBytes(len(s.Slots), len(s.Shards), clocks, s.Entries()) != size {
		return nil, io.ErrUnexpectedEOF
	}
	s.Clocks = make([]registry.Words, clocks)
	return s, nil
}

// readClocks reads the registry. A damaged one is left 0.
func (s *Snapshot) readClocks(f io.ReaderAt, checksum uint32) error {
	b := make([]byte, ClockLen*len(s.Clocks))
	if err := ReadFull(f, b, s.RegistryAt()); err != nil {
		return err
	}
	if Checksum(0, b) != checksum {
		s.Damaged = append(s.Damaged, s.RegistryAt())
		return nil
	}
	for i := range s.Clocks {
		for k := range s.Clocks[i] {
			s.Clocks[i][k] = binary.LittleEndian.Uint64(b)
			b = b[8:]
		}
	}
	return nil
}

// ReadFull is ReadAt that takes the end of the file for an error.
func ReadFull(f io.ReaderAt, b []byte, off int64) error {
	n, err := f.ReadAt(b, off)
	switch {
	case n == len(b):
		return nil
	case err == io.EOF:
		return io.ErrUnexpectedEOF
	}
	return err
}
