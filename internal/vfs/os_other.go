//go:build !linux && !darwin && !freebsd && !windows

package vfs

import (
	"errors"
	"fmt"
	"io/fs"
	"runtime"
)

func openDirect(path string, _ int) (File, error) {
	return nil, &fs.PathError{Op: "open", Path: path, Err: ErrNoDirect}
}

// allocate writes zeros from the old end on.
func allocate(f *osFile, old, size int64) error { return writeZeros(f, old, size) }

func free(string) (int64, error) {
	return 0, fmt.Errorf("free space on %s: %w", runtime.GOOS, errors.ErrUnsupported)
}
