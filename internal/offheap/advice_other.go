//go:build (darwin || freebsd || netbsd || openbsd) && !firnheap && !race

package offheap

import "golang.org/x/sys/unix"

const (
	mapNoReserve   = 0
	adviceFree     = unix.MADV_FREE
	adviceRemove   = -1
	adviceHuge     = -1
	adviceSmall    = -1
	advicePopulate = -1
	adviceDontDump = -1
)
