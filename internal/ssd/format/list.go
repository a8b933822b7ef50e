package format

import (
	"encoding/binary"
	"slices"
)

// IDLen is the length of an id in bytes.
const IDLen = 5

// The list of a segment's records: for each, in the order of the log, the five
// bytes of its id and its length in units. Before the length of a part or a head
// stand a zero, which is no length, and the record's kind.

// MaxListed is the most bytes that a list has of a record.
const MaxListed = IDLen + binary.MaxVarintLen32

// ListedLen is how many bytes a list has of a record of so many units, which is
// neither a part nor a head.
func ListedLen(units int) int { return IDLen + uvarintLen(units) }

// AppendListed appends a record's entry in the list.
func AppendListed(list []byte, id ID, k Kind, units uint32) []byte {
	list = AppendID(list, id)
	if k != IsWhole {
		list = append(list, 0, byte(k))
	}
	return binary.AppendUvarint(list, uint64(units))
}

// AppendID appends an id.
func AppendID(b []byte, id ID) []byte {
	return append(b, byte(id), byte(id>>8), byte(id>>16), byte(id>>24), byte(id>>32))
}

// ParseID is the id with which b begins.
func ParseID(b []byte) ID {
	return ID(b[0]) | ID(b[1])<<8 | ID(b[2])<<16 | ID(b[3])<<24 | ID(b[4])<<32
}

// Listed is one record of a segment, as its list tells.
type Listed struct {
	ID     ID
	Offset uint32 // in bytes from the segment's start
	Bytes  uint32 // with padding
	Kind   Kind
}

// ParseKind reads the fields behind an id in a list: the record's kind and its
// length in units. used is how many bytes that takes, not above 0 if they are wrong.
func ParseKind(b []byte) (k Kind, units uint64, used int) {
	escaped := 0
	if len(b) > 2 && b[0] == 0 && (Kind(b[1]) == IsPart || Kind(b[1]) == IsHead) {
		k, escaped = Kind(b[1]), 2
	}
	if units, used = binary.Uvarint(b[escaped:]); used > 0 {
		used += escaped
	}
	return k, units, used
}

// ParseList appends the records that a list names to recs. unitShift is the
// log's unit.
func ParseList(recs []Listed, list []byte, t Trailer, unitShift uint) ([]Listed, error) {
	if Checksum(0, list) != t.ListChecksum {
		return recs, ErrCorrupt
	}
	recs = slices.Grow(recs, min(t.Count, len(list)/(IDLen+1)))
	at := uint64(SegmentHeaderLen)
	for range t.Count {
		if len(list) < IDLen+1 {
			return recs, ErrCorrupt
		}
		k, n, used := ParseKind(list[IDLen:])
		if used <= 0 || n == 0 || n > MaxSegment {
			return recs, ErrCorrupt
		}
		size := n << unitShift
		if at+size > uint64(t.DataEnd) {
			return recs, ErrCorrupt
		}
		recs = append(recs, Listed{ParseID(list), uint32(at), uint32(size), k})
		at += size
		list = list[IDLen+used:]
	}
	if len(list) != 0 || at != uint64(t.DataEnd) {
		return recs, ErrCorrupt
	}
	return recs, nil
}
