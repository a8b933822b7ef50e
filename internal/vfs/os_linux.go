package vfs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// openDirect opens a file with O_DIRECT. File systems without direct I/O answer
// the open with EINVAL, or statx with an alignment of 0. Whoever accepts it is
// believed here, as tmpfs is since Linux 6.6: the caller may try a block.
func openDirect(path string, flag int) (File, error) {
	f, err := openRegular(path, flag|unix.O_DIRECT, checkRegular)
	switch {
	case errors.Is(err, unix.EINVAL), errors.Is(err, unix.EOPNOTSUPP):
		return nil, &fs.PathError{Op: "open", Path: path, Err: fmt.Errorf("%w: %w", ErrNoDirect, err)}
	case err != nil:
		return nil, err
	}
	align := directAlign(f)
	if align == 0 {
		f.Close()
		return nil, &fs.PathError{Op: "open", Path: path, Err: ErrNoDirect}
	}
	return &osFile{file: f, align: align}, nil
}

// defaultAlign is right for every disk that is in use.
const defaultAlign = 4096

// directAlign reads from the kernel (6.1 and later; some file systems only) for the
// alignment of memory and of offsets: 0 says that there is no direct I/O.
func directAlign(f *os.File) int {
	var st unix.Statx_t
	err := unix.Statx(int(f.Fd()), "", unix.AT_EMPTY_PATH, unix.STATX_DIOALIGN, &st)
	if err != nil || st.Mask&unix.STATX_DIOALIGN == 0 {
		return defaultAlign
	}
	if st.Dio_offset_align == 0 {
		return 0
	}
	return int(max(st.Dio_mem_align, st.Dio_offset_align))
}

// allocate reserves blocks with fallocate. File systems that have none of it, as
// NFS before 4.2, get zeros from the old end on.
func allocate(f *osFile, old, size int64) error {
	for {
		err := unix.Fallocate(int(f.file.Fd()), 0, 0, size)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENOSYS):
			return writeZeros(f, old, size)
		default:
			return err
		}
	}
}
