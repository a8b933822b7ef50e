//go:build (linux || darwin || freebsd || netbsd || openbsd) && !firnheap && !race

package offheap

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

const maxReserve uint64 = 1 << 46

// Growable reports whether reserving more than is needed costs nothing.
const Growable = true

func reserve(size uint64) (*Region, error) {
	page := uint64(unix.Getpagesize())
	size = (size + page - 1) &^ (page - 1)
	p, err := unix.MmapPtr(-1, 0, nil, uintptr(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE|mapNoReserve)
	if err != nil {
		return nil, fmt.Errorf("offheap: reserve %d bytes: %w", size, err)
	}
	r := &Region{base: p, size: size}
	if adviceAvailable(adviceDontDump) {
		_ = r.advise(0, size, adviceDontDump) // a dump is for what the program did, and would be as large as the cache
	}
	return r, nil
}

func release(base unsafe.Pointer, size uint64) error {
	page := uint64(unix.Getpagesize())
	if err := unix.MunmapPtr(base, uintptr((size+page-1)&^(page-1))); err != nil {
		return fmt.Errorf("offheap: release %d bytes: %w", size, err)
	}
	return nil
}

// advise passes advice for the whole pages inside [off, off+n).
func (r *Region) advise(off, n uint64, advice int) error {
	page := uint64(unix.Getpagesize())
	lo, hi := (off+page-1)&^(page-1), (off+n)&^(page-1)
	if lo >= hi {
		return nil
	}
	return unix.Madvise(r.Bytes(lo, int(hi-lo)), advice)
}

// Prefault backs [off, off+n) with physical memory, so that the first write
// there does not stop for a page fault. Contents stay as they are.
func (r *Region) Prefault(off, n uint64) error {
	if adviceAvailable(advicePopulate) && r.advise(off, n, advicePopulate) == nil {
		return nil
	}
	page := uint64(unix.Getpagesize())
	for end := min(off+n, r.size); off < end; off += page {
		touch(unsafe.Add(r.base, off&^7))
	}
	return nil
}

func (r *Region) decommit(off, n uint64) error { return r.advise(off, n, adviceFree) }

// punch takes the whole pages inside [off, off+n) out of shared memory, which other
// processes may have as well, and reports whether the system could.
func (r *Region) punch(off, n uint64) bool {
	return adviceAvailable(adviceRemove) && r.advise(off, n, adviceRemove) == nil
}

// AdviseHuge requests huge pages in [off, off+n). It is a wish: Huge reports
// whether the system took it.
func (r *Region) AdviseHuge(off, n uint64) {
	if adviceAvailable(adviceHuge) && r.advise(off, n, adviceHuge) == nil {
		r.huge.Store(true)
	}
}

func adviceAvailable(a int) bool { return a >= 0 }

// AdviseSmall withdraws AdviseHuge for all pages to come.
func (r *Region) AdviseSmall() {
	if r.huge.Load() && r.advise(0, r.size, adviceSmall) == nil {
		r.huge.Store(false)
	}
}
