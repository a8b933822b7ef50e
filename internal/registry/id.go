package registry

import (
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
)

// ID names a number. Its first byte is the kind, the others are of a SHA-256 of kind
// and name: nobody finds two names of one id.
type ID [16]byte

// The kinds.
const (
	Namespace byte = 1
	Tag       byte = 2
)

// IDOf is the id of a name.
func IDOf(kind byte, name string) ID {
	var room [256]byte
	sum := sha256.Sum256(append(append(room[:0], kind), name...))
	sum[0] = kind
	return ID(sum[:16])
}

// words are the id as it stands in a slot.
func (id *ID) words() [2]uint64 {
	return [2]uint64{binary.LittleEndian.Uint64(id[:8]), binary.LittleEndian.Uint64(id[8:])}
}

func idOf(w [2]uint64) (id ID) {
	binary.LittleEndian.PutUint64(id[:8], w[0])
	binary.LittleEndian.PutUint64(id[8:], w[1])
	return id
}

// first is the first number of an id, which only who has the seed can tell.
func first(w [2]uint64, seed uint64) uint64 {
	hi, lo := bits.Mul64(w[0]^seed^0x9e3779b97f4a7c15, w[1]^bits.RotateLeft64(seed, 32)^0xd1b54a32d192ed03)
	hi, lo = bits.Mul64(hi^seed, lo^0xbf58476d1ce4e5b9)
	return max(hi^lo, 1)
}
