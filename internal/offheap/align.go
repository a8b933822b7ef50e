package offheap

import "unsafe"

// Misaligned is the number of bytes from the start of b to the next address
// that is a multiple of align, a power of two.
func Misaligned(b []byte, align int) int {
	return int(-uintptr(unsafe.Pointer(unsafe.SliceData(b))) & uintptr(align-1))
}
