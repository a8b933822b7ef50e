package ssd

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/firncache/firn/internal/vfs"
)

// ErrFormat says that the files were written by a version of this package that
// this one does not read.
var ErrFormat = errors.New("ssd: unknown format")

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
// Of every version of the format, the checksum stands at 12 and covers the bytes
// before it and those from 16 to superLen: damage does not pass for another
// version.
type superblock struct {
	counter      uint64 // the higher of two is the valid one
	logID        uint64
	seed         uint64 // of the key hash
	segBytes     uint64
	segments     uint64
	journal      uint64 // bytes
	floor        uint64 // segments below this serial are dead
	nextSeg      uint64 // no segment has had this serial or a higher one; set by a clean close
	lastTime     int64  // milliseconds since 1970 on the tier's clock: it is not believed to be earlier
	skew         int64  // milliseconds that the tier's clock is ahead of the system's: what that was set back by
	snapshot     uint64 // the number of the snapshot that belongs to it; 0: none
	unitShift    uint8
	shardBits    uint8
	locationBits uint8  // of an index entry
	clean        bool   // closed, and everything has reached the device
	bootID       string // the boot during which it was opened
}

func (s *superblock) encode() []byte {
	b := make([]byte, superSlot)
	copy(b, superMagic)
	binary.LittleEndian.PutUint32(b[8:], FormatVersion)
	for i, v := range []uint64{s.counter, s.logID, s.seed, s.segBytes, s.segments, s.journal, s.floor, s.nextSeg, uint64(s.lastTime), s.snapshot} {
		binary.LittleEndian.PutUint64(b[16+8*i:], v)
	}
	b[96], b[97] = s.unitShift, s.shardBits
	if s.clean {
		b[98] = 1
	}
	b[140] = s.locationBits
	binary.LittleEndian.PutUint64(b[144:], uint64(s.skew))
	b[99] = byte(copy(b[100:100+bootIDLen], s.bootID))
	binary.LittleEndian.PutUint32(b[12:], superChecksum(b))
	return b
}

func superChecksum(b []byte) uint32 { return checksum(checksum(0, b[:12]), b[16:superLen]) }

// decodeSuperblock reads one of the two. Its error is ErrFormat for another
// version, errCorrupt for anything else that is wrong.
func decodeSuperblock(b []byte) (s superblock, err error) {
	if len(b) < superLen || string(b[:8]) != superMagic {
		return s, errCorrupt
	}
	if binary.LittleEndian.Uint32(b[12:]) != superChecksum(b) {
		return s, errCorrupt
	}
	if v := binary.LittleEndian.Uint32(b[8:]); v != FormatVersion {
		return s, fmt.Errorf("%w: version %d: want %d", ErrFormat, v, FormatVersion)
	}
	for i, p := range []*uint64{&s.counter, &s.logID, &s.seed, &s.segBytes, &s.segments, &s.journal, &s.floor, &s.nextSeg, nil, &s.snapshot} {
		if p != nil {
			*p = binary.LittleEndian.Uint64(b[16+8*i:])
		}
	}
	s.lastTime = int64(binary.LittleEndian.Uint64(b[80:]))
	s.unitShift, s.shardBits, s.clean = b[96], b[97], b[98] == 1
	s.locationBits = b[140]
	s.skew = int64(binary.LittleEndian.Uint64(b[144:]))
	s.bootID = string(b[100 : 100+min(int(b[99]), bootIDLen)])
	if !s.plausible() {
		return s, errCorrupt
	}
	return s, nil
}

// plausible bounds what sizes of memory and files are computed from.
func (s *superblock) plausible() bool {
	return s.segBytes >= minSegment && s.segBytes <= maxSegment && s.segBytes&(s.segBytes-1) == 0 &&
		s.segments > 0 && s.segments <= 1<<32 && s.journal <= maxJournal && s.journal >= minJournal &&
		s.unitShift >= leastUnitShift && s.unitShift <= 16 && s.shardBits <= maxShardBits &&
		s.skew >= 0 && s.locationBits <= mostLocationBits && s.segments*s.segBytes>>s.unitShift < 1<<s.locationBits
}

// readSuperblock finds the valid superblock of a file; errCorrupt if it has
// none.
func readSuperblock(f vfs.File) (super superblock, err error) {
	b := make([]byte, 2*superSlot)
	n, err := f.ReadAt(b, 0)
	if err != nil && err != io.EOF {
		return super, err
	}
	b = b[:n]
	found := errCorrupt
	for slot := range 2 {
		if len(b) < slot*superSlot+superLen {
			break
		}
		s, err := decodeSuperblock(b[slot*superSlot:])
		switch {
		case errors.Is(err, ErrFormat):
			return super, err
		case err == nil && (found != nil || s.counter > super.counter):
			super, found = s, nil
		}
	}
	return super, found
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
