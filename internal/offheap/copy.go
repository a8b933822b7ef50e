//go:build !race

package offheap

import "unsafe"

// AppendOut appends the n bytes at off to dst. The bytes may be overwritten
// meanwhile: the caller checks afterwards, behind a LoadFence, whether they
// were, and then throws the copy away.
func (r *Region) AppendOut(dst []byte, off uint64, n int) []byte {
	return append(dst, unsafe.Slice((*byte)(unsafe.Add(r.base, off)), n)...)
}

// CopyBlocks copies bytes at off to dst[from:], 16 or more, in blocks of 16 of
// which the last two may overlap. Unlike AppendOut it calls nothing.
func (r *Region) CopyBlocks(dst []byte, from, off uint64) {
	p, q, last := unsafe.Add(unsafe.Pointer(unsafe.SliceData(dst)), from), unsafe.Add(r.base, off), uint64(len(dst))-from-16
	for i := uint64(0); i < last; i += 16 {
		*(*[16]byte)(unsafe.Add(p, i)) = *(*[16]byte)(unsafe.Add(q, i))
	}
	*(*[16]byte)(unsafe.Add(p, last)) = *(*[16]byte)(unsafe.Add(q, last))
}

// CopyIn stores src at off, while lock-free readers may be looking.
func (r *Region) CopyIn(off uint64, src []byte) {
	copy(unsafe.Slice((*byte)(unsafe.Add(r.base, off)), len(src)), src)
}

// Equal compares the bytes at off with b, while they may be overwritten.
func (r *Region) Equal(off uint64, b []byte) bool {
	return string(unsafe.Slice((*byte)(unsafe.Add(r.base, off)), len(b))) == string(b)
}

// EqualShort is Equal for 8 to 16 bytes, without a call: two words, which may
// overlap.
func (r *Region) EqualShort(off uint64, s string) bool {
	p, q, n := unsafe.Add(r.base, off), unsafe.Pointer(unsafe.StringData(s)), len(s)-8
	return *(*[8]byte)(p) == *(*[8]byte)(q) && *(*[8]byte)(unsafe.Add(p, n)) == *(*[8]byte)(unsafe.Add(q, n))
}
