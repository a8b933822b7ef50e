package shared

import "encoding/binary"

// TrailerLen is how many bytes lie behind the value of a copy.
const TrailerLen = 16

// AppendTrailer appends the trailer of a copy to its value.
func AppendTrailer(dst []byte, v Version, s Stamp) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, uint64(v))
	return binary.LittleEndian.AppendUint64(dst, uint64(s))
}

// StampOf is the stamp in the trailer of a copy, which has one.
func StampOf(copied []byte) Stamp {
	return Stamp(binary.LittleEndian.Uint64(copied[len(copied)-8:]))
}

// CutTrailer takes the trailer off a copy. It reports false for bytes that are none.
func CutTrailer(copied []byte) (value []byte, v Version, s Stamp, ok bool) {
	n := len(copied) - TrailerLen
	if n < 0 {
		return nil, 0, 0, false
	}
	return copied[:n], Version(binary.LittleEndian.Uint64(copied[n:])), Stamp(binary.LittleEndian.Uint64(copied[n+8:])), true
}
