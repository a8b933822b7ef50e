package offheap

import (
	"os"
	"unsafe"
)

// Over is a Region over memory that its owner gives, and takes back when nothing
// touches the Region any more: Release does nothing. The memory begins at a multiple
// of 8, and is not empty.
func Over(b []byte) *Region {
	if len(b) == 0 || Misaligned(b, 8) != 0 {
		panic("offheap: a region over no bytes, or over some that are not 8-byte aligned")
	}
	return &Region{base: unsafe.Pointer(unsafe.SliceData(b)), size: uint64(len(b)), given: true}
}

// zero makes the bytes of [off, off+n) zero, while lock-free readers may be looking:
// whole pages by giving them back where the system takes pages of shared memory.
func (r *Region) zero(off, n uint64) {
	if r.punch(off, n) {
		page := uint64(os.Getpagesize())
		if lo, hi := (off+page-1)&^(page-1), (off+n)&^(page-1); lo < hi {
			r.clear(off, lo)
			off, n = hi, off+n-hi
		}
	}
	r.clear(off, off+n)
}

var zeros [4096]byte

func (r *Region) clear(from, to uint64) {
	for from < to {
		part := zeros[:min(to-from, uint64(len(zeros)))]
		r.CopyIn(from, part)
		from += uint64(len(part))
	}
}
