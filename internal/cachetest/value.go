package cachetest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"hash/fnv"
)

// Faults of a value that a read returned.
var (
	ErrTorn    = errors.New("torn value")          // bytes of several writes
	ErrForeign = errors.New("another key's value") // whole, but of another key
	ErrStale   = errors.New("stale value")         // older than an acknowledged write
	ErrUnknown = errors.New("value never written") // newer than any write
)

// MinValue is the length in bytes of the shortest value that describes itself.
const MinValue = 24

// AppendValue appends the value of write number seq of a key, n bytes long:
//
//	 0          4          8          16        24
//	+----------+----------+----------+---------+---------------+
//	| checksum | length   | key hash | seq     | bytes from seq |
//	+----------+----------+----------+---------+---------------+
//
// A shorter one than MinValue is the beginning of its bytes: it tells nothing,
// and can only be compared.
func AppendValue(dst, key []byte, seq uint64, n int) []byte {
	start, whole := len(dst), max(n, MinValue)
	dst = binary.LittleEndian.AppendUint32(dst, 0)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(n))
	dst = binary.LittleEndian.AppendUint64(dst, hashOf(key))
	dst = binary.LittleEndian.AppendUint64(dst, seq)
	for x := seq; len(dst)-start < whole; {
		x = x*0x9e3779b97f4a7c15 + 1
		dst = binary.LittleEndian.AppendUint64(dst, x^x>>29)
	}
	dst = dst[:start+whole]
	v := dst[start:]
	binary.LittleEndian.PutUint32(v, crc32.Checksum(v[4:], castagnoli))
	return dst[:start+n]
}

// Sequence is the number of the write that made a value which describes itself,
// or its fault.
func Sequence(key, value []byte) (seq uint64, err error) {
	if len(value) < MinValue {
		return 0, fmt.Errorf("%w: %d bytes: want at least %d", ErrTorn, len(value), MinValue)
	}
	if sum, want := crc32.Checksum(value[4:], castagnoli), binary.LittleEndian.Uint32(value); sum != want {
		return 0, fmt.Errorf("%w: checksum %#x of %d bytes: want %#x", ErrTorn, sum, len(value), want)
	}
	if n := binary.LittleEndian.Uint32(value[4:]); int(n) != len(value) {
		return 0, fmt.Errorf("%w: %d bytes: want %d", ErrTorn, len(value), n)
	}
	if h := binary.LittleEndian.Uint64(value[8:]); h != hashOf(key) {
		return 0, fmt.Errorf("%w: hash %#x: want %#x", ErrForeign, h, hashOf(key))
	}
	return binary.LittleEndian.Uint64(value[16:]), nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func hashOf(key []byte) uint64 {
	h := fnv.New64a()
	h.Write(key)
	return h.Sum64()
}
