//go:build race

package offheap

import (
	"sync/atomic"
	"unsafe"
)

// In race builds the bytes that a seqlock lets readers and writers touch at
// once move by atomic 32-bit words, so that the detector reports every other
// pair of conflicting accesses. Regions are 8-byte aligned, and no record
// shares a word with another.

func (r *Region) word(off uint64) *uint32 { return (*uint32)(unsafe.Add(r.base, off&^3)) }

func (r *Region) loadByte(off uint64) byte {
	return byte(atomic.LoadUint32(r.word(off)) >> (8 * (off & 3)))
}

// AppendOut appends the n bytes at off to dst.
func (r *Region) AppendOut(dst []byte, off uint64, n int) []byte {
	for i := range uint64(n) {
		dst = append(dst, r.loadByte(off+i))
	}
	return dst
}

// CopyIn stores src at off, while lock-free readers may be looking.
func (r *Region) CopyIn(off uint64, src []byte) {
	for i, c := range src {
		p, shift := r.word(off+uint64(i)), 8*((off+uint64(i))&3)
		w := atomic.LoadUint32(p)
		atomic.StoreUint32(p, w&^(0xff<<shift)|uint32(c)<<shift)
	}
}

// Equal compares the bytes at off with b, while they may be overwritten.
func (r *Region) Equal(off uint64, b []byte) bool {
	for i, c := range b {
		if r.loadByte(off+uint64(i)) != c {
			return false
		}
	}
	return true
}
