package hybrid

import (
	"os"

	"golang.org/x/sys/unix"
)

// forget drops a file's clean pages.
func forget(f *os.File) error { return unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED) }
