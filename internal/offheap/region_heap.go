//go:build firnheap || race || !(linux || darwin || freebsd || netbsd || openbsd || windows)

package offheap

import "unsafe"

const maxReserve uint64 = 1 << 40

func reserve(size uint64) (*Region, error) {
	words := make([]uint64, (size+7)/8) // 8-byte alignment
	b := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), size)
	return &Region{base: unsafe.Pointer(unsafe.SliceData(b)), size: size, heap: b}, nil
}

func release(unsafe.Pointer, uint64) error { return nil }

// AdviseHuge does nothing: the Go heap chooses its own pages.
func (r *Region) AdviseHuge(off, n uint64) {}

// Prefault does nothing: the Go heap faults its own pages.
func (r *Region) Prefault(off, n uint64) error { return nil }

// decommit does nothing: the bytes stay, and stay as they are.
func (r *Region) decommit(off, n uint64) error { return nil }

// punch does nothing, and says so.
func (r *Region) punch(off, n uint64) bool { return false }

// Growable reports whether reserving more than is needed costs nothing.
const Growable = false

// AdviseSmall does nothing.
func (r *Region) AdviseSmall() {}
