package log

import (
	"github.com/firncache/firn/internal/ssd/files"
	"github.com/firncache/firn/internal/ssd/format"
)

// Segment is one of the log's segments while its bytes are in memory:
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
// its slot is not used again. All fields are guarded by Log.Mu, but the bytes of buf
// below end, which do not change.
type Segment struct {
	Slot   int // where in the file
	Serial uint64
	Buf    []byte
	list   []byte // of its records, see format.ParseList
	count  int
	End    int // bytes appended, with the header
	listAt int // where the list begins, once sealed

	written int  // bytes of [0, end) that are on their way no more
	whole   int  // the end of the last record that lies before written
	counted int  // bytes of list that are of records before whole
	Pins    int  // readers of buf
	Done    bool // nothing is left to write
	failed  bool // a write failed: its records are being forgotten
}

// putList makes the end of a segment that is full: its list and its trailer.
func (s *Segment) putList(logID uint64, now int64) {
	size := len(s.Buf)
	s.listAt = size - format.TrailerLen - len(s.list)
	clear(s.Buf[s.End:min(s.listAt, s.End+files.BlockBytes)]) // the bytes that share a block with the end
	clear(s.Buf[max(s.End, s.listAt-files.BlockBytes):s.listAt])
	copy(s.Buf[s.listAt:], s.list)
	t := format.Trailer{Count: s.count, ListLen: len(s.list), DataEnd: s.End, ListChecksum: format.Checksum(0, s.list), Serial: s.Serial, SealedAt: now}
	t.Put(s.Buf[size-format.TrailerLen:], logID)
}

// Limit is how far records may reach in a segment in memory.
func (s *Segment) Limit() int { return len(s.Buf) - format.TrailerLen }

// wholeRecords is where the last record ends that has been written to its end: the
// next process believes records that begin before.
func (s *Segment) wholeRecords(unitShift uint) int {
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
