package files

import (
	"errors"
	"fmt"
	"io"
	"syscall"

	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/vfs"
)

// BlockBytes is the largest alignment that a file may require.
const BlockBytes = 4096

// OpenDirect opens the log past the page cache. The error is vfs.ErrNoDirect if
// that cannot be had: some file systems take the flag, and then fail all I/O. With
// required, an I/O error is no reason to do without.
func OpenDirect(fsys vfs.FS, required bool) (vfs.File, error) {
	f, err := fsys.Open(format.LogName, vfs.OpenOptions{Create: true, Direct: true})
	if err != nil {
		return nil, err
	}
	if f.Align() > BlockBytes {
		err = fmt.Errorf("%w: it wants blocks of more than %d bytes", vfs.ErrNoDirect, BlockBytes)
	} else if err = tryBlock(f); required && errors.Is(err, syscall.EIO) {
		err = nil // a disk with a bad sector, for all that is known
	} else if err != nil {
		err = fmt.Errorf("%w: it takes the flag, and fails what is asked then: %w", vfs.ErrNoDirect, err)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// tryBlock reads the first block of a file, or writes it, as zeros, if the file is
// empty.
func tryBlock(f vfs.File) error {
	size, err := f.Size()
	if err != nil {
		return err
	}
	block := vfs.Aligned(BlockBytes, BlockBytes)
	if size == 0 {
		_, err = f.WriteAt(block, 0)
	} else if _, err = f.ReadAt(block, 0); err == io.EOF {
		err = nil
	}
	return err
}
