package record

import (
	"encoding/binary"
	"math/bits"
)

// Hasher hashes keys to 64 bits. Its secrets come from a seed, so that nobody
// who does not know the seed can choose keys that collide. The same seed gives
// the same hashes in every process and on every machine.
//
// The construction is wyhash's: pairs of 8-byte words, each masked with a
// secret, are multiplied to 128 bits and folded. Unlike wyhash, all the
// secrets are random: with its public ones, a key word equal to a secret makes
// the product zero whatever the seed.
type Hasher struct {
	s [5]uint64
}

// NewHasher derives a hasher from a seed.
func NewHasher(seed uint64) Hasher {
	var h Hasher
	for i := range h.s {
		seed += 0x9e3779b97f4a7c15 // splitmix64
		z := seed
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		h.s[i] = z ^ z>>31
	}
	return h
}

func fold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

// Hash hashes a key of any length.
func (h *Hasher) Hash(key []byte) uint64 {
	n := len(key)
	if n > 16 {
		return h.hashLong(key)
	}
	var a, b uint64
	switch {
	case n >= 8:
		a = binary.LittleEndian.Uint64(key)
		b = binary.LittleEndian.Uint64(key[n-8:])
	case n >= 4:
		a = uint64(binary.LittleEndian.Uint32(key))
		b = uint64(binary.LittleEndian.Uint32(key[n-4:]))
	case n > 0:
		a = uint64(key[0])<<16 | uint64(key[n>>1])<<8 | uint64(key[n-1])
	}
	return fold(h.s[0]^uint64(n), fold(a^h.s[1], b^h.s[2]))
}

func (h *Hasher) hashLong(key []byte) uint64 {
	n, rest := len(key), key
	x, y := h.s[3], h.s[4]
	for ; len(rest) > 32; rest = rest[32:] {
		x = fold(binary.LittleEndian.Uint64(rest)^h.s[1], binary.LittleEndian.Uint64(rest[8:])^x)
		y = fold(binary.LittleEndian.Uint64(rest[16:])^h.s[2], binary.LittleEndian.Uint64(rest[24:])^y)
	}
	if len(rest) > 16 {
		x = fold(binary.LittleEndian.Uint64(rest)^h.s[1], binary.LittleEndian.Uint64(rest[8:])^x)
	}
	tail := key[n-16:]
	a, b := binary.LittleEndian.Uint64(tail), binary.LittleEndian.Uint64(tail[8:])
	return fold(h.s[0]^uint64(n), fold(a^h.s[1]^x, b^h.s[2]^y))
}
