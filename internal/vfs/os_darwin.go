package vfs

import (
	"errors"
	"io/fs"

	"golang.org/x/sys/unix"
)

// openDirect opens a file and turns its caching off. macOS asks for no
// alignment; it goes past the cache only where there is one.
func openDirect(path string, flag int) (File, error) {
	f, err := openRegular(path, flag, checkRegular)
	if err != nil {
		return nil, err
	}
	if _, err := unix.FcntlInt(f.Fd(), unix.F_NOCACHE, 1); err != nil {
		f.Close()
		return nil, &fs.PathError{Op: "open", Path: path, Err: errors.Join(ErrNoDirect, err)}
	}
	return &osFile{file: f, align: 4096}, nil
}

// allocate reserves blocks with F_PREALLOCATE, which counts from the last block
// that the file has, and then sets the length. File systems that have none of it
// get zeros from the old end on. Holes stay holes.
func allocate(f *osFile, old, size int64) error {
	if size > old {
		store := unix.Fstore_t{Flags: unix.F_ALLOCATEALL, Posmode: unix.F_PEOFPOSMODE, Length: size - old}
		err := unix.FcntlFstore(f.file.Fd(), unix.F_PREALLOCATE, &store)
		switch {
		case errors.Is(err, unix.ENOTSUP), errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.EINVAL):
			return writeZeros(f, old, size)
		case err != nil:
			return err
		}
	}
	return f.Truncate(size)
}
