package ssd

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/firncache/firn/internal/vfs"
)

// ErrFormat says that the files were written by a later version of this package,
// which this one does not read.
var ErrFormat = errors.New("ssd: unknown format")

// errOlder says that they were written by an earlier one.
var errOlder = errors.New("ssd: an earlier version of the format")

const (
	superMagic   = "firnsup1"
	superSlot    = 4096 // bytes; there are two, written in turn
	superLen     = 160
	bootIDLen    = 36
	superBlockOf = "superblock"
)

// superblock says what the other files hold. It is written whole, into the older
// of two places, and a write of it is the moment at which a log begins, or all
// that an older log holds is void.
//
// Of every version of the format a superblock has superLen bytes, of which the
// checksum at 12 covers all others, and the counter stands at 16: damage does not
// pass for another version, nor does another version pass for damage.
type superblock struct {
	counter      uint64 // the higher of two is the valid one
	logID        uint64
	seed         uint64 // of the key hash
	segBytes     uint64
	segments     uint64
	nextSeg      uint64       // no segment has had this serial or a higher one; set by a clean close
	lastTime     int64        // milliseconds since 1970 on the tier's clock: it is not believed to be earlier
	skew         int64        // milliseconds that the tier's clock is ahead of the system's: what that was set back by
	snapshot     uint64       // the number of the snapshot that belongs to it; 0: none
	memory       vfs.MemoryID // where the index is while the log is in use, and after a kill; zero: nowhere that outlives the process
	unitShift    uint8
	shardBits    uint8
	locationBits uint8  // of an index entry
	clean        bool   // closed, and everything has reached the device
	bootID       string // the boot during which it was opened
	budget       [budgetLen]byte
}

// words are the superblock's numbers in the order in which they stand from byte 16.
func (s *superblock) words() []*uint64 {
	return []*uint64{&s.counter, &s.logID, &s.seed, &s.segBytes, &s.segments, &s.nextSeg, &s.snapshot, &s.memory.Handle, &s.memory.Key}
}

const (
	superTimesAt  = 88  // lastTime, skew
	superSmallAt  = 104 // unitShift, shardBits, locationBits, clean, and the length of bootID
	superBootAt   = 112
	superBudgetAt = superLen // what is known of the write budget, with a checksum of its own
)

func (s *superblock) encode() []byte {
	b := make([]byte, superSlot)
	copy(b, superMagic)
	binary.LittleEndian.PutUint32(b[8:], FormatVersion)
	for i, p := range s.words() {
		binary.LittleEndian.PutUint64(b[16+8*i:], *p)
	}
	binary.LittleEndian.PutUint64(b[superTimesAt:], uint64(s.lastTime))
	binary.LittleEndian.PutUint64(b[superTimesAt+8:], uint64(s.skew))
	n := copy(b[superBootAt:superBootAt+bootIDLen], s.bootID)
	copy(b[superSmallAt:], []byte{s.unitShift, s.shardBits, s.locationBits, 0, byte(n)})
	if s.clean {
		b[superSmallAt+3] = 1
	}
	copy(b[superBudgetAt:], s.budget[:])
	binary.LittleEndian.PutUint32(b[superBudgetAt+budgetLen:], checksum(0, s.budget[:]))
	binary.LittleEndian.PutUint32(b[12:], superChecksum(b))
	return b
}

func superChecksum(b []byte) uint32 { return checksum(checksum(0, b[:12]), b[16:superLen]) }

// decodeSuperblock reads one of the two. Its error is ErrFormat for a later
// version, errOlder for an earlier one, errCorrupt for anything else that is wrong.
func decodeSuperblock(b []byte) (s superblock, err error) {
	if len(b) < superLen || string(b[:8]) != superMagic {
		return s, errCorrupt
	}
	if binary.LittleEndian.Uint32(b[12:]) != superChecksum(b) {
		return s, errCorrupt
	}
	switch version := binary.LittleEndian.Uint32(b[8:]); {
	case version > FormatVersion:
		return s, fmt.Errorf("%w: version %d: want %d", ErrFormat, version, FormatVersion)
	case version < FormatVersion:
		s.counter = binary.LittleEndian.Uint64(b[16:])
		return s, errOlder
	}
	for i, p := range s.words() {
		*p = binary.LittleEndian.Uint64(b[16+8*i:])
	}
	s.lastTime = int64(binary.LittleEndian.Uint64(b[superTimesAt:]))
	s.skew = int64(binary.LittleEndian.Uint64(b[superTimesAt+8:]))
	small := b[superSmallAt:]
	s.unitShift, s.shardBits, s.locationBits, s.clean = small[0], small[1], small[2], small[3] == 1
	s.bootID = string(b[superBootAt : superBootAt+min(int(small[4]), bootIDLen)])
	if b := b[superBudgetAt:]; len(b) >= budgetLen+4 && binary.LittleEndian.Uint32(b[budgetLen:]) == checksum(0, b[:budgetLen]) {
		s.budget = [budgetLen]byte(b)
	}
	if !s.plausible() {
		return s, errCorrupt
	}
	return s, nil
}

// plausible bounds what sizes of memory and files are computed from.
func (s *superblock) plausible() bool {
	return s.segBytes >= minSegment && s.segBytes <= maxSegment && s.segBytes&(s.segBytes-1) == 0 &&
		s.segments > 0 && s.segments < 1<<32 &&
		s.unitShift >= leastUnitShift && s.unitShift <= 16 && s.shardBits <= maxShardBits &&
		s.skew >= 0 && s.locationBits <= mostLocationBits && s.segments*s.segBytes>>s.unitShift < 1<<s.locationBits
}

// choice is which superblock of a file is the valid one, as one after the other is
// looked at. It begins with errCorrupt.
type choice struct {
	superblock
	err error // ErrFormat, whatever the others are; errOlder: nothing but the counter was read; errCorrupt: there is none
}

// consider looks at a superblock as decodeSuperblock returned it.
func (c *choice) consider(s superblock, err error) {
	switch {
	case errors.Is(c.err, ErrFormat), errors.Is(err, errCorrupt):
	case errors.Is(err, ErrFormat), errors.Is(c.err, errCorrupt), s.counter > c.counter:
		c.superblock, c.err = s, err
	}
}

// readSuperblock finds the valid superblock of a file. Its errors are those of a
// choice, and of reading.
func readSuperblock(f vfs.File) (superblock, error) {
	b := make([]byte, 2*superSlot)
	n, err := f.ReadAt(b, 0)
	if err != nil && err != io.EOF {
		return superblock{}, err
	}
	c := choice{err: errCorrupt}
	for b = b[:n]; len(b) >= superLen; b = b[min(superSlot, len(b)):] {
		c.consider(decodeSuperblock(b))
	}
	return c.superblock, c.err
}

// writeSuperblock makes s the valid superblock. It survives the process when
// this returns, and the machine after a sync.
func writeSuperblock(f vfs.File, s *superblock) error {
	s.counter++
	_, err := f.WriteAt(s.encode(), int64(s.counter%2)*superSlot)
	return err
}

// replaceSuperblock writes s into both places: if one is damaged later, the
// other does not bring back what was true before.
func replaceSuperblock(f vfs.File, s *superblock) error {
	if err := writeSuperblock(f, s); err != nil {
		return err
	}
	return writeSuperblock(f, s)
}
