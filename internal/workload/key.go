package workload

import (
	"encoding/binary"

	"github.com/firncache/firn/internal/record"
)

// MinKeyLen and MaxKeyLen are the bounds of the keys that AppendKey appends.
const (
	MinKeyLen = 8
	MaxKeyLen = 16
)

// Scramble is a bijection of 64-bit integers that scatters neighbours
// (the finalizer of splitmix64), so that popular ranks are not adjacent keys.
func Scramble(x uint64) uint64 { return record.Scramble(x) }

// KeyLen returns the length of the key that AppendKey makes of id: 8 to 16
// bytes, evenly spread.
func KeyLen(id uint64) int {
	return MinKeyLen + int(Scramble(id+keyLenSalt)%(MaxKeyLen-MinKeyLen+1))
}

const keyLenSalt = 0x9e3779b97f4a7c15

// AppendKey appends the key of id to dst and returns the result. Different ids
// have different keys, and the bytes of neighbouring ids have nothing in common.
func AppendKey(dst []byte, id uint64) []byte {
	n := KeyLen(id)
	h := Scramble(id)
	var key [MaxKeyLen]byte
	binary.LittleEndian.PutUint64(key[:8], h)
	binary.LittleEndian.PutUint64(key[8:], Scramble(h+keyLenSalt))
	return append(dst, key[:n]...)
}

// hashBytes returns the 64-bit FNV-1a hash of b: the identity of a key that a
// trace gives as text.
func hashBytes(b []byte) uint64 {
	h := uint64(14695981039346656037)
	for _, c := range b {
		h ^= uint64(c)
		h *= 1099511628211
	}
	return h
}
