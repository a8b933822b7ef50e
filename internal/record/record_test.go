package record

import (
	"encoding/binary"
	"math/bits"
	"testing"
)

func TestShape(t *testing.T) {
	for _, keyLen := range []int{0, 1, 16, 1022, 1023, 1024, 70_000, MaxKey} {
		for _, valueLen := range []int{0, 1, 64, 1<<20 - 1, 1 << 20, 5 << 30} {
			for _, expires := range []bool{false, true} {
				s := ShapeOf(keyLen, valueLen, expires)
				if s.KeyLen() != keyLen || s.Expires() != expires {
					t.Errorf("ShapeOf(%d, %d, %v) tells key length %d, expires %v", keyLen, valueLen, expires, s.KeyLen(), s.Expires())
				}
				short := keyLen < 1024 && valueLen < 1<<20
				if s.Long() == short || short && s.ShortValueLen() != valueLen {
					t.Errorf("ShapeOf(%d, %d, %v): long %v, short length %d", keyLen, valueLen, expires, s.Long(), s.ShortValueLen())
				}
				want := 8
				if !short {
					want += 8
				}
				if expires {
					want += 8
				}
				if s.HeaderLen() != want {
					t.Errorf("ShapeOf(%d, %d, %v): header of %d bytes, want %d", keyLen, valueLen, expires, s.HeaderLen(), want)
				}
			}
		}
	}
}

// Every length up to 100 and every bit of the key changes about half of the
// hash's bits, and hashes depend on the seed.
func TestHashAvalanche(t *testing.T) {
	h, other := NewHasher(1), NewHasher(2)
	for n := range 100 {
		key := make([]byte, n)
		base := h.Hash(key)
		if base == other.Hash(key) {
			t.Errorf("length %d: two seeds, one hash", n)
		}
		flips := 0
		for i := range n * 8 {
			key[i/8] ^= 1 << (i % 8)
			got := h.Hash(key)
			key[i/8] ^= 1 << (i % 8)
			d := bits.OnesCount64(base ^ got)
			if d < 8 {
				t.Errorf("length %d: bit %d changes %d bits of the hash", n, i, d)
			}
			flips += d
		}
		if n >= 4 {
			if mean := float64(flips) / float64(n*8); mean < 30 || mean > 34 {
				t.Errorf("length %d: a bit changes %.1f bits of the hash on average", n, mean)
			}
		}
	}
}

// Keys that differ by a counter spread evenly over buckets, tags and shards.
func TestHashSpread(t *testing.T) {
	h := NewHasher(3)
	for _, n := range []int{4, 8, 16, 20, 64} {
		for _, shift := range []int{0, 32, 58} {
			var count [64]int
			key := make([]byte, n)
			for i := range 64_000 {
				binary.LittleEndian.PutUint32(key[n-4:], uint32(i))
				count[h.Hash(key)>>shift&63]++
			}
			chi2 := 0.0
			for _, c := range count {
				d := float64(c - 1000)
				chi2 += d * d / 1000
			}
			if chi2 > 150 { // 63 degrees of freedom: far beyond the 99.9999th percentile
				t.Errorf("length %d, bits %d: chi² %.0f", n, shift, chi2)
			}
		}
	}
}

// A key word equal to one of wyhash's public secrets must not collapse the hash.
func TestHashHasNoPublicZero(t *testing.T) {
	h := NewHasher(4)
	seen := map[uint64]bool{}
	key := make([]byte, 16)
	for _, secret := range []uint64{0xa0761d6478bd642f, 0xe7037ed1a0b428db, 0x8ebc6af09c88c6e3, 0x589965cc75374cc3} {
		binary.LittleEndian.PutUint64(key, secret)
		for i := range uint64(100) {
			binary.LittleEndian.PutUint64(key[8:], i)
			seen[h.Hash(key)] = true
		}
	}
	if len(seen) != 400 {
		t.Errorf("%d different hashes of 400 keys", len(seen))
	}
}

func BenchmarkHash16(b *testing.B) {
	h := NewHasher(1)
	key := make([]byte, 16)
	for b.Loop() {
		key[0] = byte(h.Hash(key))
	}
}
