package format

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
)

// ErrLater says that the files were written by a later version of this package,
// which this one does not read.
var ErrLater = errors.New("ssd: unknown format")

// ErrOlder says that they were written by an earlier one.
var ErrOlder = errors.New("ssd: an earlier version of the format")

const (
	SuperblockMagic = "firnsup1"
	SuperblockBytes = 4096 // bytes; there are two, written in turn
	SuperblockLen   = 160
	bootIDLen       = 36
)

// Superblock describes the other files. It is written whole, into the older
// of two places, and a write of it is the moment at which a log begins, or all
// that an older log holds is void.
//
// Of every version of the format a superblock has SuperblockLen bytes, of which the
// checksum at 12 covers all others, and the counter stands at 16: damage does not
// pass for another version, nor does another version pass for damage.
type Superblock struct {
	Counter      uint64 // the higher of two is the valid one
	LogID        uint64
	Seed         uint64 // of the key hash
	SegmentBytes uint64
	Segments     uint64
	NextSegment  uint64   // no segment has had this serial or a higher one; set by a clean close
	LastTime     int64    // milliseconds since 1970 on the tier's clock: it is not believed to be earlier
	Skew         int64    // milliseconds that the tier's clock is ahead of the system's, which was set back by so many
	Snapshot     uint64   // the number of the snapshot that belongs to it; 0: none
	Memory       MemoryID // where the index is while the log is in use, and after a kill; zero: nowhere that outlives the process
	UnitShift    uint8
	ShardBits    uint8
	LocationBits uint8  // of an index entry
	Clean        bool   // closed, and everything has reached the device
	BootID       string // the boot during which it was opened
	Fingerprint  uint64 // of what the records are; 0: the user's keys and values
	Budget       BudgetState
}

// words are the superblock's numbers in the order in which they stand from byte 16.
func (s *Superblock) words() []*uint64 {
	return []*uint64{&s.Counter, &s.LogID, &s.Seed, &s.SegmentBytes, &s.Segments, &s.NextSegment, &s.Snapshot, &s.Memory.Handle, &s.Memory.Key}
}

const (
	superTimesAt  = 88  // lastTime, skew
	superSmallAt  = 104 // unitShift, shardBits, locationBits, clean, and the length of bootID
	superBootAt   = 112
	superPrintAt  = 152
	superBudgetAt = SuperblockLen // the write budget's state, with a checksum of its own
)

// Encode makes the bytes of one of the two places.
func (s *Superblock) Encode() []byte {
	b := make([]byte, SuperblockBytes)
	copy(b, SuperblockMagic)
	binary.LittleEndian.PutUint32(b[8:], Version)
	for i, p := range s.words() {
		binary.LittleEndian.PutUint64(b[16+8*i:], *p)
	}
	binary.LittleEndian.PutUint64(b[superTimesAt:], uint64(s.LastTime))
	binary.LittleEndian.PutUint64(b[superTimesAt+8:], uint64(s.Skew))
	n := copy(b[superBootAt:superBootAt+bootIDLen], s.BootID)
	copy(b[superSmallAt:], []byte{s.UnitShift, s.ShardBits, s.LocationBits, 0, byte(n)})
	if s.Clean {
		b[superSmallAt+3] = 1
	}
	binary.LittleEndian.PutUint64(b[superPrintAt:], s.Fingerprint)
	budget := s.Budget.Encode()
	copy(b[superBudgetAt:], budget[:])
	binary.LittleEndian.PutUint32(b[superBudgetAt+BudgetLen:], Checksum(0, budget[:]))
	SealSuperblock(b)
	return b
}

// SealSuperblock makes the checksum of an encoded superblock that of its bytes.
func SealSuperblock(b []byte) { binary.LittleEndian.PutUint32(b[12:], superChecksum(b)) }

func superChecksum(b []byte) uint32 { return Checksum(Checksum(0, b[:12]), b[16:SuperblockLen]) }

// DecodeSuperblock reads one of the two. Its error is ErrLater for a later
// version, ErrOlder for an earlier one, ErrCorrupt for anything else that is wrong.
func DecodeSuperblock(b []byte) (s Superblock, err error) {
	if len(b) < SuperblockLen || string(b[:8]) != SuperblockMagic {
		return s, ErrCorrupt
	}
	if binary.LittleEndian.Uint32(b[12:]) != superChecksum(b) {
		return s, ErrCorrupt
	}
	switch version := binary.LittleEndian.Uint32(b[8:]); {
	case version > Version:
		return s, fmt.Errorf("%w: version %d: want %d", ErrLater, version, Version)
	case version < Version:
		s.Counter = binary.LittleEndian.Uint64(b[16:])
		return s, ErrOlder
	}
	for i, p := range s.words() {
		*p = binary.LittleEndian.Uint64(b[16+8*i:])
	}
	s.LastTime = int64(binary.LittleEndian.Uint64(b[superTimesAt:]))
	s.Skew = int64(binary.LittleEndian.Uint64(b[superTimesAt+8:]))
	small := b[superSmallAt:]
	s.UnitShift, s.ShardBits, s.LocationBits, s.Clean = small[0], small[1], small[2], small[3] == 1
	s.BootID = string(b[superBootAt : superBootAt+min(int(small[4]), bootIDLen)])
	s.Fingerprint = binary.LittleEndian.Uint64(b[superPrintAt:])
	if b := b[superBudgetAt:]; len(b) >= BudgetLen+4 && binary.LittleEndian.Uint32(b[BudgetLen:]) == Checksum(0, b[:BudgetLen]) {
		s.Budget = DecodeBudget([BudgetLen]byte(b))
	}
	if !s.plausible() {
		return s, ErrCorrupt
	}
	return s, nil
}

// plausible bounds the numbers that sizes of memory and files are computed from.
func (s *Superblock) plausible() bool {
	return s.SegmentBytes >= MinSegment && s.SegmentBytes <= MaxSegment && s.SegmentBytes&(s.SegmentBytes-1) == 0 &&
		s.Segments > 0 && s.Segments < 1<<32 &&
		s.UnitShift >= MinUnitShift && s.UnitShift <= 16 && s.ShardBits <= MaxShardBits &&
		s.Skew >= 0 && s.LocationBits <= MaxLocationBits && s.Segments*s.SegmentBytes>>s.UnitShift < 1<<s.LocationBits
}

// Choice is which superblock of a file is the valid one, as one after the other is
// looked at. It begins with ErrCorrupt.
type Choice struct {
	Superblock
	Err error // ErrLater, even if others are valid; ErrOlder: nothing but the counter was read; ErrCorrupt: there is none
}

// Consider looks at a superblock as DecodeSuperblock returned it.
func (c *Choice) Consider(s Superblock, err error) {
	switch {
	case errors.Is(c.Err, ErrLater), errors.Is(err, ErrCorrupt):
	case errors.Is(err, ErrLater), errors.Is(c.Err, ErrCorrupt), s.Counter > c.Counter:
		c.Superblock, c.Err = s, err
	}
}

// ReadSuperblock finds the valid superblock of a file. Its errors are those of a
// choice, and of reading.
func ReadSuperblock(f io.ReaderAt) (Superblock, error) {
	b := make([]byte, 2*SuperblockBytes)
	n, err := f.ReadAt(b, 0)
	if err != nil && err != io.EOF {
		return Superblock{}, err
	}
	c := Choice{Err: ErrCorrupt}
	for b = b[:n]; len(b) >= SuperblockLen; b = b[min(SuperblockBytes, len(b)):] {
		c.Consider(DecodeSuperblock(b))
	}
	return c.Superblock, c.Err
}

// WriteSuperblock makes s the valid superblock. It survives the process when
// this returns, and the machine after a sync.
func WriteSuperblock(f io.WriterAt, s *Superblock) error {
	s.Counter++
	_, err := f.WriteAt(s.Encode(), int64(s.Counter%2)*SuperblockBytes)
	return err
}

// ReplaceSuperblock writes s into both places: if one is damaged later, the
// other does not bring back an earlier state.
func ReplaceSuperblock(f io.WriterAt, s *Superblock) error {
	if err := WriteSuperblock(f, s); err != nil {
		return err
	}
	return WriteSuperblock(f, s)
}

// MemoryID finds the memory of an index: see vfs.MemoryID.
type MemoryID struct{ Handle, Key uint64 }

// Geometry is that of the log.
func (s *Superblock) Geometry() Geometry {
	return Geometry{uint(bits.TrailingZeros64(s.SegmentBytes)), uint(s.UnitShift)}
}

// Layout is that of the index's entries.
func (s *Superblock) Layout() Layout { return Layout{s.LocationBits, s.UnitShift} }

// IDs makes the ids of the log's records; hashMask is as for NewIDs.
func (s *Superblock) IDs(hashMask uint64) IDs {
	return NewIDs(s.Layout(), uint(s.ShardBits), s.Seed, hashMask)
}
