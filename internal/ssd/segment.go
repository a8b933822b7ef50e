package ssd

import (
	"github.com/firncache/firn/internal/ssd/files"
	"github.com/firncache/firn/internal/ssd/format"
)

// segment is one of the log's segments while its bytes are in memory:
//
//	openSegment      seal            the writer          the buffer is needed
//	──────────> open ────> sealed ─────────────────> done ───────────> on the disk alone
//	             │            │                       ^
//	             └────────────┴──> failed ────────────┘
//	         two failed writes: abandonSegment
//
// While it is open, records are appended to it, and the writer may write those it has.
// When it is sealed, it has its list and trailer, and waits in log.sealed for the
// writer. When it is done, nothing is left to write, or nothing can be; its buffer is
// taken for another once pins is 0. Of a failed one all entries leave the index, and
// its slot is not used again. All fields are guarded by log.mu, but the bytes of buf
// below end, which do not change.
type segment struct {
	slot   int // where in the file
	serial uint64
	buf    []byte
	list   []byte // of its records, see format.ParseList
	count  int
	end    int // bytes appended, with the header
	listAt int // where the list begins, once sealed

	written int  // bytes of [0, end) that are on their way no more
	whole   int  // the end of the last record that lies before written
	counted int  // bytes of list that are of records before whole
	pins    int  // readers of buf
	done    bool // nothing is left to write
	failed  bool // a write failed: its records are being forgotten
}

// putList makes the end of a segment that is full: its list and its trailer.
func (s *segment) putList(logID uint64, now int64) {
	size := len(s.buf)
	s.listAt = size - format.TrailerLen - len(s.list)
	clear(s.buf[s.end:min(s.listAt, s.end+files.BlockBytes)]) // the bytes that share a block with the end
	clear(s.buf[max(s.end, s.listAt-files.BlockBytes):s.listAt])
	copy(s.buf[s.listAt:], s.list)
	t := format.Trailer{Count: s.count, ListLen: len(s.list), DataEnd: s.end, ListChecksum: format.Checksum(0, s.list), Serial: s.serial, SealedAt: now}
	t.Put(s.buf[size-format.TrailerLen:], logID)
}

// limit is how far records may reach in a segment in memory.
func (s *segment) limit() int { return len(s.buf) - format.TrailerLen }

// wholeRecords is where the last record ends that has been written to its end: the
// next process believes records that begin before.
func (s *segment) wholeRecords(unitShift uint) int {
	for s.counted < len(s.list) {
		_, units, used := format.ParseKind(s.list[s.counted+format.IDLen:])
		end := s.whole + int(units)<<unitShift
		if end > s.written {
			break
		}
		s.whole, s.counted = end, s.counted+format.IDLen+used
	}
	return s.whole
}
