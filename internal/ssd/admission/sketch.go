package admission

import (
	"math/bits"
	"sync"
)

// sketchShare is the part of the RAM budget, as a divisor, that remembering
// refused records takes.
const sketchShare = 1024

// sketch remembers hashes approximately: two Bloom filters with two bits a hash,
// of which the younger is filled until the older is dropped for it. It forgets
// a hash after another one to two capacities, a bit for every eighth of it.
type sketch struct {
	mu    sync.Mutex // a leaf
	bits  [2][]uint64
	mask  uint64
	added int
}

func (s *sketch) init(bytes int64) {
	words := sketchWords(bytes)
	s.bits[0], s.bits[1] = make([]uint64, words), make([]uint64, words)
	s.mask = uint64(words)*64 - 1
}

// sketchWords is the length of one of the two filters of a sketch of so many bytes.
func sketchWords(bytes int64) int64 { return 1 << (bits.Len64(uint64(max(bytes/16, 64))) - 1) }

// sketchBytes is the size of both, of the bytes that there are for them.
func sketchBytes(bytes int64) int64 { return 2 * 8 * sketchWords(bytes) }

// add remembers a hash, and reports whether it was known.
func (s *sketch) add(hash uint64) (known bool) {
	a, b := hash&s.mask, hash>>32&s.mask
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.bits {
		if (s.bits[i][a/64]>>(a%64))&(s.bits[i][b/64]>>(b%64))&1 != 0 {
			return true
		}
	}
	s.bits[0][a/64] |= 1 << (a % 64)
	s.bits[0][b/64] |= 1 << (b % 64)
	if s.added++; uint64(s.added) > s.mask/8 {
		s.bits[0], s.bits[1], s.added = s.bits[1], s.bits[0], 0
		clear(s.bits[0])
	}
	return false
}
