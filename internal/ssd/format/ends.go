package format

import (
	"bytes"
	"slices"
)

// Ends describes the segment in a slot by its header and trailer.
type Ends struct {
	Serial  uint64  // by the header; 0: that is not one of this log
	Trailer Trailer // its serial is 0 if it is not one of this log
	Foreign bool    // the header is that of another log's segment
}

// ParseEnds reads the first bytes of a slot, and its last; nil for bytes that could
// not be read.
func ParseEnds(head, tail []byte, logID uint64, segBytes int) (e Ends) {
	var ok bool
	if e.Serial, ok = parseSegmentHeader(head, logID, segBytes); !ok {
		e.Foreign = bytes.HasPrefix(head, []byte(SegmentMagic))
	}
	e.Trailer, _ = ParseTrailer(tail[max(len(tail)-TrailerLen, 0):], logID, segBytes)
	return e
}

// HasHeader reports whether a segment of this log begins there.
func (e *Ends) HasHeader() bool { return e.Serial != 0 }

// Sealed reports whether that segment has its trailer.
func (e *Ends) Sealed() bool { return e.HasHeader() && e.Trailer.Serial == e.Serial }

// LostHeader reports whether there is a trailer without a header.
func (e *Ends) LostHeader() bool { return !e.HasHeader() && e.Trailer.Serial != 0 }

// LastSerial is the highest serial that is named there.
func (e *Ends) LastSerial() uint64 { return max(e.Serial, e.Trailer.Serial) }

// AllZero reports whether nothing was ever written to some bytes.
func AllZero(b []byte) bool {
	return !slices.ContainsFunc(b, func(c byte) bool { return c != 0 })
}
