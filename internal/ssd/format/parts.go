package format

import "encoding/binary"

// Limits of a value that lies in parts.
const (
	MaxParts = 1024 // of a value

	// MaxWhole is the longest key and value together that are one record: locks
	// are held while it is copied. A part is no longer either.
	MaxWhole = 1 << 20
)

// PartKey is the key of a part: the number of the write, the id of the value's key,
// and which part it is.
type PartKey struct {
	Write uint64
	Owner ID
	Part  int
}

// PartKeyLen is the length of a part's key.
const PartKeyLen = 8 + IDLen + 2

// Append appends the key to b.
func (k PartKey) Append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, k.Write)
	b = AppendID(b, k.Owner)
	return binary.LittleEndian.AppendUint16(b, uint16(k.Part))
}

// ParsePartKey reads the key of a part.
func ParsePartKey(b []byte) (k PartKey, ok bool) {
	if len(b) != PartKeyLen {
		return k, false
	}
	return PartKey{binary.LittleEndian.Uint64(b), ParseID(b[8:]), int(binary.LittleEndian.Uint16(b[8+IDLen:]))}, true
}

// Head is the value of a head.
type Head struct {
	Write uint64 // the number of the write
	Bytes int    // of the value
	Parts int
}

// HeadLen is the length of a head's value.
const HeadLen = 8 + 8 + 2

// Append appends the value of the head to b.
func (h Head) Append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, h.Write)
	b = binary.LittleEndian.AppendUint64(b, uint64(h.Bytes))
	return binary.LittleEndian.AppendUint16(b, uint16(h.Parts))
}

// ParseHead reads the value of a head. It reports false if no value has such parts.
func ParseHead(b []byte) (h Head, ok bool) {
	if len(b) != HeadLen {
		return h, false
	}
	n := binary.LittleEndian.Uint64(b[8:])
	h = Head{binary.LittleEndian.Uint64(b), int(n), int(binary.LittleEndian.Uint16(b[16:]))}
	return h, h.Parts > 0 && h.Parts <= MaxParts && n <= MaxParts*MaxWhole
}
