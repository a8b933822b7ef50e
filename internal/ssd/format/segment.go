package format

import "encoding/binary"

// What a segment may have, in bytes.
const (
	MinSegment = 64 << 10
	MaxSegment = 64 << 20
)

const (
	SegmentMagic = "firnseg1"
	trailerMagic = "firnend1"

	SegmentHeaderLen = 64
	TrailerLen       = 48
)

// PutSegmentHeader writes the header of a segment.
func PutSegmentHeader(b []byte, logID, serial uint64, size int) {
	clear(b[:SegmentHeaderLen])
	copy(b, SegmentMagic)
	binary.LittleEndian.PutUint64(b[8:], logID)
	binary.LittleEndian.PutUint64(b[16:], serial)
	binary.LittleEndian.PutUint64(b[24:], uint64(size))
	binary.LittleEndian.PutUint32(b[60:], Checksum(0, b[:60]))
}

// parseSegmentHeader tells which segment of the log b begins, if any.
func parseSegmentHeader(b []byte, logID uint64, size int) (serial uint64, ok bool) {
	if len(b) < SegmentHeaderLen || string(b[:8]) != SegmentMagic ||
		binary.LittleEndian.Uint64(b[8:]) != logID ||
		binary.LittleEndian.Uint64(b[24:]) != uint64(size) || !headerWhole(b) {
		return 0, false
	}
	serial = binary.LittleEndian.Uint64(b[16:])
	return serial, serial > 0
}

// headerWhole reports whether a header's checksum is right.
func headerWhole(b []byte) bool { return binary.LittleEndian.Uint32(b[60:]) == Checksum(0, b[:60]) }

// Trailer ends a sealed segment: it says where the list of its records stands.
type Trailer struct {
	Count        int // records
	ListLen      int // bytes of the list, which ends where the trailer begins
	DataEnd      int // where the last record ends, with its padding
	ListChecksum uint32
	Serial       uint64
	SealedAt     int64 // milliseconds since 1970
}

// Put encodes the trailer at the start of b.
func (t *Trailer) Put(b []byte, logID uint64) {
	clear(b[:TrailerLen])
	binary.LittleEndian.PutUint32(b[0:], uint32(t.Count))
	binary.LittleEndian.PutUint32(b[4:], uint32(t.ListLen))
	binary.LittleEndian.PutUint32(b[8:], uint32(t.DataEnd))
	binary.LittleEndian.PutUint32(b[12:], t.ListChecksum)
	binary.LittleEndian.PutUint64(b[16:], t.Serial)
	binary.LittleEndian.PutUint64(b[24:], uint64(t.SealedAt))
	copy(b[36:], trailerMagic)
	binary.LittleEndian.PutUint32(b[44:], Origin{logID, t.Serial}.Seal(Checksum(0, b[:44])))
}

// ParseTrailer reads the last TrailerLen bytes of a segment of size bytes.
func ParseTrailer(b []byte, logID uint64, size int) (t Trailer, ok bool) {
	if len(b) != TrailerLen || string(b[36:44]) != trailerMagic {
		return t, false
	}
	t = Trailer{
		Count:        int(binary.LittleEndian.Uint32(b[0:])),
		ListLen:      int(binary.LittleEndian.Uint32(b[4:])),
		DataEnd:      int(binary.LittleEndian.Uint32(b[8:])),
		ListChecksum: binary.LittleEndian.Uint32(b[12:]),
		Serial:       binary.LittleEndian.Uint64(b[16:]),
		SealedAt:     int64(binary.LittleEndian.Uint64(b[24:])),
	}
	switch {
	case binary.LittleEndian.Uint32(b[44:]) != (Origin{logID, t.Serial}).Seal(Checksum(0, b[:44])),
		t.Serial == 0, t.DataEnd < SegmentHeaderLen, t.ListLen < 0, t.DataEnd > size-TrailerLen-t.ListLen:
		return Trailer{}, false
	}
	return t, true
}

// Walk returns the records at the beginning of a segment, as far as they are whole,
// and where they end.
func Walk(b []byte, log, serial uint64, g Geometry, ids *IDs) (recs []Listed, end int) {
	b = b[:len(b)-TrailerLen]
	for end = SegmentHeaderLen; end < len(b); {
		r, err := ParseRecord(b[end:], Origin{log, g.LSN(serial, end)})
		if err != nil {
			break
		}
		size := g.Pad(r.Size)
		recs = append(recs, Listed{ids.OfRecord(&r), uint32(end), uint32(size), r.Kind()})
		end += size
	}
	return recs, end
}
