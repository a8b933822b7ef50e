package ssd

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math/bits"
	"slices"
)

// The numbers in the files are little-endian, checksums are CRC-32C. docs/FORMAT.md
// describes all of it, with test vectors, which vectors_test.go reads there.

// FormatVersion is the version of the files that this package writes. It reads
// no other.
const FormatVersion = 2

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(crc uint32, b []byte) uint32 { return crc32.Update(crc, castagnoli, b) }

// errCorrupt says that bytes do not have the form, or the checksum, that they
// should.
var errCorrupt = errors.New("ssd: checksum or form is wrong")

// origin is what every checksum in the log covers beside the bytes themselves:
// which log they belong to and where in it they stand. What another log, or an
// earlier turn of the same one, left on the disk does not pass for data.
type origin struct {
	log uint64 // the log's random number
	lsn uint64
}

// seal makes the origin part of a checksum: the two halves of the 128-bit product
// of both its numbers, each xored with a constant, and the halves of what that
// gives, xored with each other and with the checksum.
func (o origin) seal(crc uint32) uint32 {
	hi, lo := bits.Mul64(o.log^0x9e3779b97f4a7c15, o.lsn^0xd1b54a32d192ed03)
	m := hi ^ lo
	return crc ^ uint32(m>>32) ^ uint32(m)
}

// Records.

// Flags of a record.
const (
	flagExpires    = 1 << iota // a deadline stands in the header
	flagCompressed             // the value is an s2 block
	flagPart                   // a part of a long value, see partKey
	flagHead                   // the value lies in parts, and this one tells of them, see head
	flagsKnown     = flagExpires | flagCompressed | flagPart | flagHead
)

// kind is what a record is: a value, or of a long one a part or the head.
type kind uint8

const (
	isWhole kind = iota
	isPart
	isHead
)

func (r *rec) kind() kind {
	switch {
	case r.flags&flagPart != 0:
		return isPart
	case r.flags&flagHead != 0:
		return isHead
	}
	return isWhole
}

// recordHeaderMax is the longest header of a record in bytes: checksum, flags,
// two lengths and a deadline.
const recordHeaderMax = 4 + 1 + 2*binary.MaxVarintLen32 + 8

// rec is a record as it stands in the log: key and value are views.
type rec struct {
	flags      byte
	deadline   int64 // milliseconds since 1970; 0: never
	key, value []byte

	// What parsing found, in bytes from the record's start.
	keyLen, valueAt int
	size            int // without the padding to a unit
}

// body is the checksum of key and value, with which a record's begins.
func (r *rec) body() uint32 { return checksum(checksum(0, r.key), r.value) }

// headerLen is the length of the record's header in bytes.
func (r *rec) headerLen() int {
	n := 5 + uvarintLen(len(r.key)) + uvarintLen(len(r.value))
	if r.flags&flagExpires != 0 {
		n += 8
	}
	return n
}

func uvarintLen(n int) int { return (bits.Len(uint(n)|1) + 6) / 7 }

// put encodes the header at the start of b, and returns its length. body is the
// checksum of what follows it.
func (r *rec) put(b []byte, body uint32, o origin) (n int) {
	b[4] = r.flags
	n = 5
	n += binary.PutUvarint(b[n:], uint64(len(r.key)))
	n += binary.PutUvarint(b[n:], uint64(len(r.value)))
	if r.flags&flagExpires != 0 {
		binary.LittleEndian.PutUint64(b[n:], uint64(r.deadline))
		n += 8
	}
	binary.LittleEndian.PutUint32(b, o.seal(checksum(body, b[4:n])))
	return n
}

// parseRecord reads the record at the start of b. It believes no length before
// it has seen that so many bytes are there, and nothing before the checksum.
func parseRecord(b []byte, o origin) (r rec, err error) {
	r, err = parseHeader(b)
	if err != nil {
		return rec{}, err
	}
	if r.size > len(b) {
		return rec{}, errCorrupt
	}
	keyAt := r.valueAt - r.keyLen
	if o.seal(checksum(checksum(0, b[keyAt:r.size]), b[4:keyAt])) != binary.LittleEndian.Uint32(b) {
		return rec{}, errCorrupt
	}
	r.key = b[keyAt:r.valueAt:r.valueAt]
	r.value = b[r.valueAt:r.size:r.size]
	return r, nil
}

// parseHeader reads the header of a record of which b may be only the
// beginning. Key and value are not set, and nothing that it finds has been
// checked.
func parseHeader(b []byte) (r rec, err error) {
	if len(b) < 5 {
		return rec{}, errCorrupt
	}
	r.flags = b[4]
	if r.flags&^flagsKnown != 0 || r.flags&flagPart != 0 && r.flags&flagHead != 0 {
		return rec{}, errCorrupt
	}
	at := 5
	keyLen, n := binary.Uvarint(b[at:])
	if n <= 0 || keyLen > maxSegment {
		return rec{}, errCorrupt
	}
	at += n
	valueLen, n := binary.Uvarint(b[at:])
	if n <= 0 || valueLen > maxSegment {
		return rec{}, errCorrupt
	}
	at += n
	if r.flags&flagExpires != 0 {
		if len(b) < at+8 {
			return rec{}, errCorrupt
		}
		r.deadline = int64(binary.LittleEndian.Uint64(b[at:]))
		at += 8
	}
	r.keyLen, r.size = int(keyLen), at+int(keyLen)+int(valueLen)
	r.valueAt = at + int(keyLen)
	return r, nil
}

// Segments.

// What a segment may have, in bytes.
const (
	MinSegment = 64 << 10
	MaxSegment = 64 << 20
)

const (
	segmentMagic = "firnseg1"
	footerMagic  = "firnend1"

	segmentHeaderLen = 64
	trailerLen       = 48
	minSegment       = MinSegment
	maxSegment       = MaxSegment
)

// putSegmentHeader writes the header of a segment.
func putSegmentHeader(b []byte, logID, serial uint64, size int) {
	clear(b[:segmentHeaderLen])
	copy(b, segmentMagic)
	binary.LittleEndian.PutUint64(b[8:], logID)
	binary.LittleEndian.PutUint64(b[16:], serial)
	binary.LittleEndian.PutUint64(b[24:], uint64(size))
	binary.LittleEndian.PutUint32(b[60:], checksum(0, b[:60]))
}

// parseSegmentHeader tells which segment of the log b begins, if any.
func parseSegmentHeader(b []byte, logID uint64, size int) (serial uint64, ok bool) {
	if len(b) < segmentHeaderLen || string(b[:8]) != segmentMagic ||
		binary.LittleEndian.Uint64(b[8:]) != logID ||
		binary.LittleEndian.Uint64(b[24:]) != uint64(size) || !headerWhole(b) {
		return 0, false
	}
	serial = binary.LittleEndian.Uint64(b[16:])
	return serial, serial > 0
}

// headerWhole reports whether a header's checksum is right.
func headerWhole(b []byte) bool { return binary.LittleEndian.Uint32(b[60:]) == checksum(0, b[:60]) }

// trailer ends a sealed segment: it says where the list of its records stands.
type trailer struct {
	count    int // records
	listLen  int // bytes of the list, which ends where the trailer begins
	dataEnd  int // where the last record ends, with its padding
	listCRC  uint32
	serial   uint64
	sealedAt int64 // milliseconds since 1970
}

func (t *trailer) put(b []byte, logID uint64) {
	clear(b[:trailerLen])
	binary.LittleEndian.PutUint32(b[0:], uint32(t.count))
	binary.LittleEndian.PutUint32(b[4:], uint32(t.listLen))
	binary.LittleEndian.PutUint32(b[8:], uint32(t.dataEnd))
	binary.LittleEndian.PutUint32(b[12:], t.listCRC)
	binary.LittleEndian.PutUint64(b[16:], t.serial)
	binary.LittleEndian.PutUint64(b[24:], uint64(t.sealedAt))
	copy(b[36:], footerMagic)
	binary.LittleEndian.PutUint32(b[44:], origin{logID, t.serial}.seal(checksum(0, b[:44])))
}

// parseTrailer reads the last trailerLen bytes of a segment of size bytes.
func parseTrailer(b []byte, logID uint64, size int) (t trailer, ok bool) {
	if len(b) != trailerLen || string(b[36:44]) != footerMagic {
		return t, false
	}
	t = trailer{
		count:    int(binary.LittleEndian.Uint32(b[0:])),
		listLen:  int(binary.LittleEndian.Uint32(b[4:])),
		dataEnd:  int(binary.LittleEndian.Uint32(b[8:])),
		listCRC:  binary.LittleEndian.Uint32(b[12:]),
		serial:   binary.LittleEndian.Uint64(b[16:]),
		sealedAt: int64(binary.LittleEndian.Uint64(b[24:])),
	}
	if binary.LittleEndian.Uint32(b[44:]) != (origin{logID, t.serial}).seal(checksum(0, b[:44])) {
		return t, false
	}
	return t, t.dataEnd >= segmentHeaderLen && t.listLen >= 0 && t.dataEnd <= size-trailerLen-t.listLen
}

// walk returns the records at the beginning of a segment, as far as they are whole,
// and where they end. idOf makes the id of a record.
func walk(b []byte, log uint64, begin uint64, unitShift uint, idOf func(r *rec) id) (recs []listed, end int) {
	b = b[:len(b)-trailerLen]
	for end = segmentHeaderLen; end < len(b); {
		r, err := parseRecord(b[end:], origin{log, begin + uint64(end)})
		if err != nil {
			break
		}
		size := (r.size + 1<<unitShift - 1) >> unitShift << unitShift
		recs = append(recs, listed{idOf(&r), uint32(end), uint32(size), r.kind()})
		end += size
	}
	return recs, end
}

// The list of a segment's records: for each, in the order of the log, the five
// bytes of its id and its length in units. Before the length of a part or a head
// stand a zero, which is no length, and the record's kind.

const idLen = 5

func appendListed(list []byte, id id, units uint32) []byte {
	return appendKind(list, id, isWhole, units)
}

// appendKind is appendListed for a record of a kind.
func appendKind(list []byte, id id, k kind, units uint32) []byte {
	list = appendID(list, id)
	if k != isWhole {
		list = append(list, 0, byte(k))
	}
	return binary.AppendUvarint(list, uint64(units))
}

func appendID(b []byte, id id) []byte {
	return append(b, byte(id), byte(id>>8), byte(id>>16), byte(id>>24), byte(id>>32))
}

func idAt(b []byte) id {
	return id(b[0]) | id(b[1])<<8 | id(b[2])<<16 | id(b[3])<<24 | id(b[4])<<32
}

// listed is one record of a segment, as its list tells.
type listed struct {
	id     id
	offset uint32 // in bytes from the segment's start
	bytes  uint32 // with padding
	kind   kind
}

// parseKind reads what stands behind an id in a list: the record's kind and its
// length in units. used is how many bytes that takes, not above 0 if they are wrong.
func parseKind(b []byte) (k kind, units uint64, used int) {
	escaped := 0
	if len(b) > 2 && b[0] == 0 && (kind(b[1]) == isPart || kind(b[1]) == isHead) {
		k, escaped = kind(b[1]), 2
	}
	if units, used = binary.Uvarint(b[escaped:]); used > 0 {
		used += escaped
	}
	return k, units, used
}

// parseList appends the records that a list names to recs. unitShift is the
// log's unit.
func parseList(recs []listed, list []byte, t trailer, unitShift uint) ([]listed, error) {
	if checksum(0, list) != t.listCRC {
		return recs, errCorrupt
	}
	recs = slices.Grow(recs, min(t.count, len(list)/(idLen+1)))
	at := uint64(segmentHeaderLen)
	for range t.count {
		if len(list) < idLen+1 {
			return recs, errCorrupt
		}
		k, n, used := parseKind(list[idLen:])
		if used <= 0 || n == 0 || n > maxSegment {
			return recs, errCorrupt
		}
		size := n << unitShift
		if at+size > uint64(t.dataEnd) {
			return recs, errCorrupt
		}
		recs = append(recs, listed{idAt(list), uint32(at), uint32(size), k})
		at += size
		list = list[idLen+used:]
	}
	if len(list) != 0 || at != uint64(t.dataEnd) {
		return recs, errCorrupt
	}
	return recs, nil
}
