package registry

import (
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
)

// ID names a namespace or a tag. Its first byte is the kind, the others are of a SHA-256 of
// kind and name: no two names with one id are known.
type ID [16]byte

// The kinds.
const (
	Namespace byte = 1
	Tag       byte = 2
	Secret    byte = 3 // of all processes: see typed.Tags
)

// IDOf is the id of a name.
func IDOf(kind byte, name string) ID {
	var room [512]byte
	sum := sha256.Sum256(append(append(room[:0], kind), name...))
	sum[0] = kind
	return ID(sum[:16])
}

// TagOf is the id of a tag of a namespace, whose name has 255 bytes at most.
func TagOf(space, name string) ID {
	var room [512]byte
	sum := sha256.Sum256(append(append(append(room[:0], Tag, byte(len(space))), space...), name...))
	sum[0] = Tag
	return ID(sum[:16])
}

// SharedPlaces is how many places of each kind all processes over one shared tier agree on.
const SharedPlaces = 1 << 20

// SharedPlace is the place of an id there, as an id of the same kind.
func (id *ID) SharedPlace() ID { return PlaceID(id[0], uint32(id.Hash()%SharedPlaces)) }

// PlaceID is the id of a place.
func PlaceID(kind byte, place uint32) (id ID) {
	id[0] = kind
	binary.LittleEndian.PutUint32(id[8:], place)
	return id
}

// Place is the place of an id of PlaceID.
func (id *ID) Place() uint32 { return binary.LittleEndian.Uint32(id[8:]) }

// Hash is eight bytes of the id.
func (id *ID) Hash() uint64 { return binary.LittleEndian.Uint64(id[8:]) }

// mixed is a hash of two words, which cannot be chosen without the seed.
func mixed(a, b, seed uint64) uint64 {
	hi, lo := bits.Mul64(a^seed^0x9e3779b97f4a7c15, b^bits.RotateLeft64(seed, 32)^0xd1b54a32d192ed03)
	hi, lo = bits.Mul64(hi^seed, lo^0xbf58476d1ce4e5b9)
	return hi ^ lo
}

// Seal is a check word of some bytes, which cannot be made without the secret.
func Seal(secret uint64, b []byte) uint64 {
	h := mixed(uint64(len(b)), 0, secret)
	for ; len(b) >= 8; b = b[8:] {
		h = mixed(h, binary.LittleEndian.Uint64(b), secret)
	}
	var rest [8]byte
	copy(rest[:], b)
	return mixed(h, binary.LittleEndian.Uint64(rest[:]), secret)
}
