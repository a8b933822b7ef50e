package offheap

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Own puts pages of the Region's own, all zero, in the place of shared memory that was given,
// at once: a reader finds the bytes of one or of the other meanwhile. The memory is
// page-aligned. Its owner may have it back then, and Release gives the pages back.
func (r *Region) Own() error {
	_, err := unix.MmapPtr(-1, 0, r.base, uintptr(r.size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE|unix.MAP_FIXED|unix.MAP_NORESERVE)
	if err != nil {
		return fmt.Errorf("offheap: %d bytes in the place of shared memory: %w", r.size, err)
	}
	r.given = false
	return nil
}
