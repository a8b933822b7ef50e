package cachetest

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
)

// Bytes is a Source that reads a fuzzer's input: two bytes a choice. When they
// are used up every choice is 0.
type Bytes struct{ Rest []byte }

// FuzzBytes is how many bytes of a fuzzer's input are used. It makes ever longer
// ones, and they only take longer.
const FuzzBytes = 400

// Fuzzed is a Source of the choices in a fuzzer's input.
func Fuzzed(input []byte) *Bytes { return &Bytes{Rest: input[:min(len(input), FuzzBytes)]} }

// Below takes the next choice from the input.
func (b *Bytes) Below(n int) int {
	if len(b.Rest) < 2 {
		b.Rest = nil
		return 0
	}
	x := binary.LittleEndian.Uint16(b.Rest)
	b.Rest = b.Rest[2:]
	return int(uint64(x) * uint64(n) >> 16)
}

// Random is a Source of seeded random choices.
type Random struct{ *rand.Rand }

// Below takes the next choice at random.
func (r Random) Below(n int) int { return r.IntN(n) }

// Keys are n different keys, among them the empty one, and some of 1 byte, of a
// few hundred, of more than a short record holds, and of the longest given.
func Keys(n, longest int) (keys [][]byte) {
	lengths := []int{8, 16, 16, 20, 33, 300, 1023, 1024, 2000, longest}
	for i := range n {
		switch length := min(lengths[i%len(lengths)], longest); {
		case i == 0:
			keys = append(keys, []byte{})
		case i < 4:
			keys = append(keys, []byte{byte(i)})
		default:
			key := bytes.Repeat([]byte{byte(length)}, max(length, 8))
			binary.BigEndian.PutUint32(key[len(key)-4:], uint32(i))
			keys = append(keys, key)
		}
	}
	return keys
}
