package record

// Align is the alignment of records in a log, in bytes.
const Align = 8

// MaxHeader is the largest header in bytes.
const MaxHeader = 24

// MaxKey is the largest key in bytes that a record can carry.
const MaxKey = 1<<30 - 1

const (
	longBit      = 1 << 31
	expiresBit   = 1 << 30
	shortKeyBits = 10
	shortValBits = 20
)

// Shape is the part of a record's header that has its lengths.
type Shape uint32

// ShapeOf is the shape of a record. keyLen is at most MaxKey.
func ShapeOf(keyLen, valueLen int, expires bool) Shape {
	var s Shape
	if keyLen < 1<<shortKeyBits && valueLen < 1<<shortValBits {
		s = Shape(keyLen)<<shortValBits | Shape(valueLen)
	} else {
		s = longBit | Shape(keyLen)
	}
	if expires {
		s |= expiresBit
	}
	return s
}

// Long reports whether the value's length is a header field of its own.
func (s Shape) Long() bool { return s&longBit != 0 }

// Expires reports whether the header holds a deadline.
func (s Shape) Expires() bool { return s&expiresBit != 0 }

// KeyLen is the key's length in bytes.
func (s Shape) KeyLen() int {
	if s.Long() {
		return int(s &^ (longBit | expiresBit))
	}
	return int(s>>shortValBits) & (1<<shortKeyBits - 1)
}

// ShortValueLen is the value's length in bytes, if the record is not Long.
func (s Shape) ShortValueLen() int { return int(s & (1<<shortValBits - 1)) }

// DeadlineOffset is where the deadline stands, if the record Expires.
func (s Shape) DeadlineOffset() uint64 {
	if s.Long() {
		return 16
	}
	return 8
}

// ValueLenOffset is where the value's length stands, if the record is Long.
const ValueLenOffset = 8

// HeaderLen is the length of the header in bytes: 8, 16 or 24.
func (s Shape) HeaderLen() int { return 8 + 8*int(s>>31) + 8*int(s>>30&1) }

// Size is the room in bytes that a record takes in a log.
func Size(keyLen, valueLen int, expires bool) uint64 {
	n := ShapeOf(keyLen, valueLen, expires).HeaderLen()
	return (uint64(n) + uint64(keyLen) + uint64(valueLen) + Align - 1) &^ (Align - 1)
}

// Copy is what the lower tier may have of a record in the tier above it.
type Copy uint8

// The copies.
const (
	NoCopy    Copy = iota // nothing of the key; what lies under its hash is another key's
	OlderCopy             // the value, with an earlier deadline
	SameCopy              // the record: neither set nor touched since
)
