//go:build race

package offheap

import (
	"encoding/binary"
	"sync/atomic"
	"unsafe"
)

// In race builds the bytes that a seqlock lets readers and writers touch at
// once move by atomic 64-bit words, so that the detector reports every other
// pair of conflicting accesses. Regions are 8-byte aligned, and no record
// shares a word with another.

// word is the word that holds the byte at off, and the place of the byte in it.
func (r *Region) word(off uint64) (p *uint64, in uint64) {
	return (*uint64)(unsafe.Add(r.base, off&^7)), off & 7
}

// load is the bytes of a word, in the order in which they lie in memory.
func load(p *uint64) (b [8]byte) {
	binary.NativeEndian.PutUint64(b[:], atomic.LoadUint64(p))
	return b
}

// AppendOut appends the n bytes at off to dst.
func (r *Region) AppendOut(dst []byte, off uint64, n int) []byte {
	for n > 0 {
		p, in := r.word(off)
		b := load(p)
		part := b[in:min(in+uint64(n), 8)]
		dst = append(dst, part...)
		off, n = off+uint64(len(part)), n-len(part)
	}
	return dst
}

// CopyIn stores src at off, while lock-free readers may be looking.
func (r *Region) CopyIn(off uint64, src []byte) {
	for len(src) > 0 {
		p, in := r.word(off)
		b := load(p)
		n := copy(b[in:], src)
		atomic.StoreUint64(p, binary.NativeEndian.Uint64(b[:]))
		off, src = off+uint64(n), src[n:]
	}
}

// Equal compares the bytes at off with b, while they may be overwritten.
func (r *Region) Equal(off uint64, b []byte) bool {
	for len(b) > 0 {
		p, in := r.word(off)
		w := load(p)
		n := min(8-int(in), len(b))
		if string(w[in:int(in)+n]) != string(b[:n]) {
			return false
		}
		off, b = off+uint64(n), b[n:]
	}
	return true
}
