package vfs

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// osFile is a file of the real file system. It continues operations that the system cuts
// short: package os repeats interrupted and short calls until an error or the
// end of the file, and pieces of maxCall keep each call below the system's limit.
type osFile struct {
	file  *os.File
	align int
}

// maxCall is the most that one call reads or writes: systems stop at 2 GiB, some
// a page before that. It is a multiple of every alignment.
const maxCall = 1 << 30

// inPieces calls for at most piece bytes at a time, until all are done or a call fails.
func inPieces(p []byte, off int64, piece int, call func([]byte, int64) (int, error)) (n int, err error) {
	for n < len(p) && err == nil {
		var m int
		m, err = call(p[n:min(n+piece, len(p))], off+int64(n))
		n += m
	}
	return n, err
}

func (f *osFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := inPieces(p, off, maxCall, f.file.ReadAt)
	if err != nil && err != io.EOF && f.align > 1 && f.ends(off+int64(n)) {
		err = io.EOF // direct I/O refuses to go on at the end of a file that is no multiple of Align
	}
	return n, err
}

// ends reports whether the file has no byte at off or after it.
func (f *osFile) ends(off int64) bool {
	size, err := f.Size()
	return err == nil && off >= size
}

func (f *osFile) WriteAt(p []byte, off int64) (int, error) {
	return inPieces(p, off, maxCall, f.file.WriteAt)
}

func (f *osFile) Size() (int64, error) {
	info, err := f.file.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func (f *osFile) Allocate(size int64) error {
	old, err := f.Size()
	if err != nil {
		return err
	}
	if size <= old {
		if err := f.Truncate(size); err != nil || size == 0 {
			return err
		}
	}
	if err := f.hasSpace(size - old); err != nil {
		return fmt.Errorf("allocate %d bytes for %s: %w", size, f.file.Name(), err)
	}
	if err := allocate(f, old, size); err != nil {
		// Blocks that were reserved before the space ran out are given back.
		err = fmt.Errorf("allocate %d bytes for %s: %w", size, f.file.Name(), err)
		return errors.Join(err, f.Truncate(min(old, size)))
	}
	return nil
}

// hasSpace fails if the file system says that it has not so many bytes more. Without that it
// would be full for a moment, for all that use it, until a vain attempt has given all back.
func (f *osFile) hasSpace(bytes int64) error {
	if left, err := free(filepath.Dir(f.file.Name())); err == nil && bytes > left {
		return fmt.Errorf("%d bytes are free: %w", left, ErrNoSpace)
	}
	return nil
}

func (f *osFile) Truncate(size int64) error { return f.file.Truncate(size) }
func (f *osFile) Sync() error               { return f.file.Sync() }
func (f *osFile) Close() error              { return f.file.Close() }
func (f *osFile) Align() int                { return f.align }

func (f *osFile) Fd() (uintptr, bool) { return f.file.Fd(), true }

// writeZeros makes a file longer by writing zeros, so that its blocks exist on
// systems that cannot reserve them. Holes that it has already stay holes. It
// writes whole units of Align, and cuts off the excess.
func writeZeros(f *osFile, from, to int64) error {
	unit := int64(f.align)
	from = (from + unit - 1) / unit * unit
	zeros := Aligned(1<<20, f.align)
	for from < to {
		n := (to - from + unit - 1) / unit * unit
		m, err := f.WriteAt(zeros[:min(n, int64(len(zeros)))], from)
		if err != nil {
			return err
		}
		from += int64(m)
	}
	return f.Truncate(to)
}
