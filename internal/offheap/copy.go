//go:build !race

package offheap

import "unsafe"

// AppendOut appends the n bytes at off to dst. The bytes may be overwritten
// meanwhile: the caller checks afterwards, behind a LoadFence, whether they
// were, and then throws the copy away.
func (r *Region) AppendOut(dst []byte, off uint64, n int) []byte {
	return append(dst, unsafe.Slice((*byte)(unsafe.Add(r.base, off)), n)...)
}

// CopyIn stores src at off, while lock-free readers may be looking.
func (r *Region) CopyIn(off uint64, src []byte) {
	copy(unsafe.Slice((*byte)(unsafe.Add(r.base, off)), len(src)), src)
}

// Equal compares the bytes at off with b, while they may be overwritten.
func (r *Region) Equal(off uint64, b []byte) bool {
	return string(unsafe.Slice((*byte)(unsafe.Add(r.base, off)), len(b))) == string(b)
}
