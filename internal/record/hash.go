package record

import (
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
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

// NewSeed draws the random seed of a cache, so that no one outside the process knows
// which keys collide in it.
func NewSeed() uint64 { return rand.Uint64() }

// NewHasher derives a hasher from a seed.
func NewHasher(seed uint64) Hasher {
	var h Hasher
	for i := range h.s {
		seed += 0x9e3779b97f4a7c15 // splitmix64
		h.s[i] = Scramble(seed)
	}
	return h
}

// Scramble is a bijection of 64-bit integers that scatters neighbours: the finalizer of
// splitmix64.
func Scramble(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func fold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

// Short reports whether HashShort takes the key.
func Short(key []byte) bool { return len(key) >= 8 && len(key) <= 16 }

// HashShort is Hash for a Short key. It is compiled into its caller.
func (h *Hasher) HashShort(key []byte) uint64 {
	n := len(key)
	return fold(h.s[0]^uint64(n), fold(binary.LittleEndian.Uint64(key)^h.s[1], binary.LittleEndian.Uint64(key[n-8:])^h.s[2]))
}

// Hash hashes a key of any length.
func (h *Hasher) Hash(key []byte) uint64 {
	if Short(key) {
		return h.HashShort(key)
	}
	return h.hashOther(key)
}

// mix is the hash of up to 16 bytes, read as two words.
func (h *Hasher) mix(n int, a, b uint64) uint64 {
	return fold(h.s[0]^uint64(n), fold(a^h.s[1], b^h.s[2]))
}

// hashOther hashes keys shorter than 8 bytes or longer than 16.
func (h *Hasher) hashOther(key []byte) uint64 {
	switch n := len(key); {
	case n > 16:
		return h.hashLong(key)
	case n >= 4:
		return h.mix(n, uint64(binary.LittleEndian.Uint32(key)), uint64(binary.LittleEndian.Uint32(key[n-4:])))
	case n > 0:
		return h.mix(n, uint64(key[0])<<16|uint64(key[n>>1])<<8|uint64(key[n-1]), 0)
	}
	return h.mix(0, 0, 0)
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
