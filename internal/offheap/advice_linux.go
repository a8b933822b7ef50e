//go:build !firnheap && !race

package offheap

import "golang.org/x/sys/unix"

const (
	mapNoReserve   = unix.MAP_NORESERVE
	adviceFree     = unix.MADV_DONTNEED
	adviceRemove   = unix.MADV_REMOVE
	adviceHuge     = unix.MADV_HUGEPAGE
	adviceSmall    = unix.MADV_NOHUGEPAGE
	advicePopulate = unix.MADV_POPULATE_WRITE
	adviceDontDump = unix.MADV_DONTDUMP
)
