package format

import (
	"encoding/binary"
	"io"
	"math/bits"
)

const (
	SnapshotMagic     = "firnsnp1"
	SnapshotHeaderLen = 64
)

// Snapshot is the part of a snapshot before the entries of the index.
type Snapshot struct {
	LogID   uint64
	Number  uint64
	Slots   []SlotState
	Shards  []ShardPart // their number is a power of two
	Forgot  bool        // the registry has forgotten an id
	Numbers []Number    // of the registry
}

// Number is a number of the registry, and its id.
type Number struct {
	ID     [16]byte
	Number uint64
}

// NumberLen is the length of a Number.
const NumberLen = 24

// SlotState is the state of a slot in a snapshot: see SlotWords.
type SlotState struct{ Serial, Written, Until uint64 }

// ShardPart is the state of a shard in a snapshot, beside its entries.
type ShardPart struct {
	Entries  uint32
	Checksum uint32 // of them
}

// EntriesAt is where the entries begin.
func (s *Snapshot) EntriesAt() int64 {
	return snapshotBegin(len(s.Slots), len(s.Shards), len(s.Numbers))
}

func snapshotBegin(slots, shards, numbers int) int64 {
	return SnapshotHeaderLen + SlotWordsLen*int64(slots) + 8*int64(shards) + NumberLen*int64(numbers)
}

// SnapshotBytes is the length of a snapshot.
func SnapshotBytes(slots, shards, numbers int, entries int64) int64 {
	return snapshotBegin(slots, shards, numbers) + 8*entries
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

// Encode makes all that stands before the entries.
func (s *Snapshot) Encode() []byte {
	b := make([]byte, SnapshotHeaderLen, s.EntriesAt())
	for _, w := range s.Slots {
		b = binary.LittleEndian.AppendUint64(b, w.Serial)
		b = binary.LittleEndian.AppendUint64(b, w.Written)
		b = binary.LittleEndian.AppendUint64(b, w.Until)
	}
	dirAt := len(b)
	for _, p := range s.Shards {
		b = binary.LittleEndian.AppendUint32(b, p.Entries)
		b = binary.LittleEndian.AppendUint32(b, p.Checksum)
	}
	numbersAt := len(b)
	for _, n := range s.Numbers {
		b = append(b, n.ID[:]...)
		b = binary.LittleEndian.AppendUint64(b, n.Number)
	}
	copy(b, SnapshotMagic)
	binary.LittleEndian.PutUint64(b[8:], s.LogID)
	binary.LittleEndian.PutUint64(b[16:], s.Number)
	binary.LittleEndian.PutUint32(b[24:], uint32(bits.Len(uint(len(s.Shards)))-1))
	binary.LittleEndian.PutUint32(b[28:], Checksum(0, b[dirAt:numbersAt]))
	binary.LittleEndian.PutUint32(b[32:], uint32(len(s.Slots)))
	binary.LittleEndian.PutUint32(b[36:], Checksum(0, b[SnapshotHeaderLen:dirAt]))
	binary.LittleEndian.PutUint32(b[40:], uint32(len(s.Numbers)))
	binary.LittleEndian.PutUint32(b[44:], Checksum(0, b[numbersAt:]))
	if s.Forgot {
		b[48] = 1
	}
	binary.LittleEndian.PutUint32(b[60:], Checksum(0, b[:60]))
	return b
}

// ReadSnapshot reads the part before the entries of a snapshot, which is a file of
// size bytes. It has to be of the log that a superblock describes, and no longer or
// shorter than it says. Its errors are ErrCorrupt, io.ErrUnexpectedEOF for another
// length, and those of reading.
func ReadSnapshot(f io.ReaderAt, size int64, super *Superblock) (*Snapshot, error) {
	head := make([]byte, SnapshotHeaderLen)
	if err := ReadFull(f, head, 0); err != nil {
		return nil, err
	}
	s := &Snapshot{LogID: binary.LittleEndian.Uint64(head[8:]), Number: binary.LittleEndian.Uint64(head[16:])}
	shardBits, slots := binary.LittleEndian.Uint32(head[24:]), binary.LittleEndian.Uint32(head[32:])
	if string(head[:8]) != SnapshotMagic || !headerWhole(head) || s.LogID != super.LogID ||
		shardBits != uint32(super.ShardBits) || uint64(slots) > super.Segments {
		return nil, ErrCorrupt
	}
	numbers := binary.LittleEndian.Uint32(head[40:])
	begin := snapshotBegin(int(slots), 1<<shardBits, int(numbers))
	if begin > size {
		return nil, io.ErrUnexpectedEOF
	}
	tables := make([]byte, begin-SnapshotHeaderLen)
	if err := ReadFull(f, tables, SnapshotHeaderLen); err != nil {
		return nil, err
	}
	words, dir := tables[:SlotWordsLen*int(slots)], tables[SlotWordsLen*int(slots):]
	dir, registry := dir[:8<<shardBits], dir[8<<shardBits:]
	if Checksum(0, dir) != binary.LittleEndian.Uint32(head[28:]) || Checksum(0, words) != binary.LittleEndian.Uint32(head[36:]) || Checksum(0, registry) != binary.LittleEndian.Uint32(head[44:]) {
		return nil, ErrCorrupt
	}
	s.Slots = make([]SlotState, 0, slots)
	for ; len(words) > 0; words = words[SlotWordsLen:] {
		s.Slots = append(s.Slots, SlotState{binary.LittleEndian.Uint64(words), binary.LittleEndian.Uint64(words[8:]), binary.LittleEndian.Uint64(words[16:])})
	}
	s.Shards = make([]ShardPart, 0, 1<<shardBits)
	for ; len(dir) > 0; dir = dir[8:] {
		s.Shards = append(s.Shards, ShardPart{binary.LittleEndian.Uint32(dir), binary.LittleEndian.Uint32(dir[4:])})
	}
	s.Forgot = head[48] != 0
	for ; len(registry) > 0; registry = registry[NumberLen:] {
		s.Numbers = append(s.Numbers, Number{[16]byte(registry), binary.LittleEndian.Uint64(registry[16:])})
	}
	if begin+8*s.Entries() != size {
		return nil, io.ErrUnexpectedEOF
	}
	return s, nil
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
