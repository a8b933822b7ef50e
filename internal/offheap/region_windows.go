//go:build windows && !firnheap && !race

package offheap

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/windows"
)

const maxReserve uint64 = 1 << 46

// Growable reports whether reserving more than is needed costs nothing. On
// Windows committed memory counts against the page file, so it does not.
const Growable = false

func reserve(size uint64) (*Region, error) {
	p, err := windows.VirtualAlloc(0, uintptr(size), windows.MEM_RESERVE|windows.MEM_COMMIT, windows.PAGE_READWRITE)
	if err != nil {
		return nil, fmt.Errorf("offheap: reserve %d bytes: %w", size, err)
	}
	return &Region{base: *(*unsafe.Pointer)(unsafe.Pointer(&p)), size: size}, nil
}

func release(base unsafe.Pointer, _ uint64) error {
	if err := windows.VirtualFree(uintptr(base), 0, windows.MEM_RELEASE); err != nil {
		return fmt.Errorf("offheap: release: %w", err)
	}
	return nil
}

// AdviseHuge does nothing: large pages need a privilege on Windows.
func (r *Region) AdviseHuge(off, n uint64) {}

// Prefault backs [off, off+n) with physical memory.
func (r *Region) Prefault(off, n uint64) error {
	for end := min(off+n, r.size); off < end; off += 4096 {
		touch(unsafe.Add(r.base, off&^7))
	}
	return nil
}

// decommit lets the system know that the bytes of [off, off+n) are not needed; it
// takes their memory when it is short.
func (r *Region) decommit(off, n uint64) error {
	const page = 4096
	lo, hi := (off+page-1)&^(page-1), (off+n)&^(page-1)
	if lo >= hi {
		return nil
	}
	const memReset = 0x80000
	_, err := windows.VirtualAlloc(uintptr(r.base)+uintptr(lo), uintptr(hi-lo), memReset, windows.PAGE_READWRITE)
	return err
}

// punch reports that the system takes no pages out of shared memory.
func (r *Region) punch(off, n uint64) bool { return false }

// AdviseSmall does nothing.
func (r *Region) AdviseSmall() {}
