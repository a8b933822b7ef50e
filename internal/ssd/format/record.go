package format

import (
	"encoding/binary"
	"math/bits"
)

// Flags of a record.
const (
	FlagExpires    = 1 << iota // a deadline stands in the header
	FlagCompressed             // the value is an s2 block
	FlagPart                   // a part of a long value, see PartKey
	FlagHead                   // the value lies in parts, and this one tells of them, see Head
	knownFlags     = FlagExpires | FlagCompressed | FlagPart | FlagHead
)

// Kind is the kind of a record: a value, or of a long one a part or the head.
type Kind uint8

// The kinds.
const (
	IsWhole Kind = iota
	IsPart
	IsHead
)

// Kind is the kind that the flags give.
func (r *Record) Kind() Kind {
	switch {
	case r.Flags&FlagPart != 0:
		return IsPart
	case r.Flags&FlagHead != 0:
		return IsHead
	}
	return IsWhole
}

// MaxRecordHeader is the longest header of a record in bytes: checksum, flags,
// two lengths and a deadline.
const MaxRecordHeader = 4 + 1 + 2*binary.MaxVarintLen32 + 8

// Record is a record as it stands in the log: key and value are views.
type Record struct {
	Flags      byte
	Deadline   int64 // milliseconds since 1970; 0: never
	Key, Value []byte

	// Offsets that parsing found, in bytes from the record's start.
	keyLen, valueAt int
	Size            int // without the padding to a unit
}

// BodyChecksum is the checksum of key and value, with which a record's begins.
func (r *Record) BodyChecksum() uint32 { return Checksum(Checksum(0, r.Key), r.Value) }

// HeaderLen is the length of the record's header in bytes.
func (r *Record) HeaderLen() int {
	return HeaderLen(len(r.Key), len(r.Value), r.Flags&FlagExpires != 0)
}

// HeaderLen is the length of the header of a record with a key and a value of so
// many bytes.
func HeaderLen(keyLen, valueLen int, expires bool) int {
	n := 5 + uvarintLen(keyLen) + uvarintLen(valueLen)
	if expires {
		n += 8
	}
	return n
}

func uvarintLen(n int) int { return (bits.Len(uint(n)|1) + 6) / 7 }

// Put encodes the header at the start of b, and returns its length. body is the
// checksum of the bytes after it.
func (r *Record) Put(b []byte, body uint32, o Origin) (n int) {
	b[4] = r.Flags
	n = 5
	n += binary.PutUvarint(b[n:], uint64(len(r.Key)))
	n += binary.PutUvarint(b[n:], uint64(len(r.Value)))
	if r.Flags&FlagExpires != 0 {
		binary.LittleEndian.PutUint64(b[n:], uint64(r.Deadline))
		n += 8
	}
	binary.LittleEndian.PutUint32(b, o.Seal(Checksum(body, b[4:n])))
	return n
}

// ParseRecord reads the record at the start of b. It believes no length before
// it has seen that so many bytes are there, and nothing before the checksum.
func ParseRecord(b []byte, o Origin) (r Record, err error) {
	r, err = ParseHeader(b)
	if err != nil {
		return Record{}, err
	}
	if r.Size > len(b) {
		return Record{}, ErrCorrupt
	}
	keyAt := r.valueAt - r.keyLen
	if o.Seal(Checksum(Checksum(0, b[keyAt:r.Size]), b[4:keyAt])) != binary.LittleEndian.Uint32(b) {
		return Record{}, ErrCorrupt
	}
	r.Key = b[keyAt:r.valueAt:r.valueAt]
	r.Value = b[r.valueAt:r.Size:r.Size]
	return r, nil
}

// ParseHeader reads the header of a record of which b may be only the
// beginning. Key and value are not set, and nothing that it finds has been
// checked.
func ParseHeader(b []byte) (r Record, err error) {
	if len(b) < 5 {
		return Record{}, ErrCorrupt
	}
	r.Flags = b[4]
	if r.Flags&^knownFlags != 0 || r.Flags&FlagPart != 0 && r.Flags&FlagHead != 0 {
		return Record{}, ErrCorrupt
	}
	at := 5
	keyLen, n := binary.Uvarint(b[at:])
	if n <= 0 || keyLen > MaxSegment {
		return Record{}, ErrCorrupt
	}
	at += n
	valueLen, n := binary.Uvarint(b[at:])
	if n <= 0 || valueLen > MaxSegment {
		return Record{}, ErrCorrupt
	}
	at += n
	if r.Flags&FlagExpires != 0 {
		if len(b) < at+8 {
			return Record{}, ErrCorrupt
		}
		r.Deadline = int64(binary.LittleEndian.Uint64(b[at:]))
		at += 8
	}
	r.keyLen, r.Size = int(keyLen), at+int(keyLen)+int(valueLen)
	r.valueAt = at + int(keyLen)
	return r, nil
}
