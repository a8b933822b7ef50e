package offheap

import (
	"fmt"
	"math"
	"sync/atomic"
	"unsafe"
)

// Region is one contiguous range of memory outside the Go heap. Its bytes start
// as zeros, unless it was made by Over. A Region is safe for concurrent use except for Release.
type Region struct {
	base  unsafe.Pointer
	size  uint64
	heap  []byte // keeps a heap-backed region alive; nil when mapped
	given bool   // by Over, and not Own: not the region's
	huge  atomic.Bool
}

// Reserve reserves size bytes of address space; no physical memory is used
// until a byte is written. The size is rounded up to the system's page size.
func Reserve(size uint64) (*Region, error) {
	if most := min(maxReserve, uint64(math.MaxInt)); size == 0 || size > most {
		return nil, fmt.Errorf("offheap: cannot reserve %d bytes: want 1 to %d", size, most)
	}
	return reserve(size)
}

// Size is the number of reserved bytes.
func (r *Region) Size() uint64 { return r.size }

// Base is the address of the region's first byte, for code in assembly.
func (r *Region) Base() uintptr { return uintptr(r.base) }

// Huge reports whether the system accepted the advice to use huge pages.
func (r *Region) Huge() bool { return r.huge.Load() }

// Mapped reports whether the region lies outside the Go heap.
func (r *Region) Mapped() bool { return r.heap == nil }

// At is a typed view of the bytes at off. T must be free of pointers, and off
// a multiple of T's alignment with all of T inside the region: neither is checked.
func At[T any](r *Region, off uint64) *T { return (*T)(unsafe.Add(r.base, off)) }

// OffsetOf is where in the region what At returned lies.
func OffsetOf[T any](r *Region, p *T) uint64 {
	return uint64(uintptr(unsafe.Pointer(p)) - uintptr(r.base))
}

// Bytes is a view of n bytes at off, which must lie inside the region. Bytes
// that other goroutines may write meanwhile are read with CopyOut instead.
func (r *Region) Bytes(off uint64, n int) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(r.base, off)), n)
}

// Alloc returns n bytes of zeroed memory of their own, outside the Go heap.
// Free gives them back.
func Alloc(n int) ([]byte, error) {
	if n <= 0 {
		return nil, fmt.Errorf("offheap: cannot allocate %d bytes: want at least 1", n)
	}
	r, err := Reserve(uint64(n))
	if err != nil {
		return nil, err
	}
	return r.Bytes(0, n), nil
}

// Free releases memory that Alloc returned; it takes the very slice, uncut.
// No byte of it may be touched afterwards.
func Free(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	return release(unsafe.Pointer(unsafe.SliceData(b)), uint64(len(b)))
}

// Release returns the address space to the system. The caller must know that
// nothing will touch the region again, not even to read. Memory that was given stays.
func (r *Region) Release() error {
	if r.base == nil || r.heap != nil || r.given {
		return nil // the collector frees a heap-backed region
	}
	err := release(r.base, r.size)
	r.base, r.size = nil, 0
	return err
}

// Decommit gives the physical memory of the whole pages inside [off, off+n) back
// to the system. The bytes may be read afterwards, and are zero or as they were; a
// write brings memory back. Memory that was given is zero afterwards, to its last
// byte.
func (r *Region) Decommit(off, n uint64) error {
	if r.given {
		r.zero(off, n)
		return nil
	}
	if err := r.decommit(off, n); err != nil {
		return fmt.Errorf("offheap: decommit %d bytes at %d: %w", n, off, err)
	}
	return nil
}

// View reinterprets b as a slice of T, which must be free of pointers. b must be
// aligned for T and outlive the result.
func View[T any](b []byte) []T {
	var t T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(t)))
}

// WordBytes is a view of words as bytes, in the machine's order.
func WordBytes(words []uint64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), 8*len(words))
}
