package vfs

import "golang.org/x/sys/unix"

// openDirect opens a file with O_DIRECT, which is a wish on FreeBSD: file
// systems that do not know it go through the cache.
func openDirect(path string, flag int) (File, error) {
	f, err := openRegular(path, flag|unix.O_DIRECT, checkRegular)
	if err != nil {
		return nil, err
	}
	return &osFile{file: f, align: 4096}, nil
}

// allocate writes zeros from the old end on: ZFS refuses posix_fallocate, and
// package unix does not offer it.
func allocate(f *osFile, old, size int64) error { return writeZeros(f, old, size) }
