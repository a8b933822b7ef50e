package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/vfs"
)

// ErrForeign says that a file which the tier would overwrite is not the tier's.
var ErrForeign = errors.New("ssd: a file that is not the cache's")

// Claim makes sure that the directory's files are the tier's to overwrite. They
// are if the superblock has the magic of one, be it damaged. Otherwise each that
// has anything in it must look like something that a tier wrote.
func Claim(fsys vfs.FS) error {
	names, err := fsys.List()
	if err != nil {
		return err
	}
	marked := false
	for _, name := range []string{format.SuperblockName, format.LogName, format.SnapshotName, format.SnapshotTempName} {
		listed := slices.Contains(names, name)
		inCapitals := slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) })
		if marked || !listed && !inCapitals {
			continue
		}
		f, err := fsys.Open(name, vfs.OpenOptions{ReadOnly: true})
		if !listed && errors.Is(err, fs.ErrNotExist) { // LOG is not log here
			continue
		}
		if err != nil {
			return err
		}
		ours, err := looksOurs(f)
		if name == format.SuperblockName && err == nil {
			marked, err = isMarked(f)
		}
		if err := errors.Join(err, f.Close()); err != nil {
			return err
		}
		if !ours && !marked {
			return fmt.Errorf("%w: %s would be overwritten: choose another directory, or move it away", ErrForeign, name)
		}
	}
	return nil
}

// isMarked reports whether a superblock's file has its magic in one place at
// least.
func isMarked(f vfs.File) (bool, error) {
	for slot := range int64(2) {
		head, err := readHead(f, slot*format.SuperblockBytes, len(format.SuperblockMagic))
		if err != nil || string(head) == format.SuperblockMagic {
			return err == nil, err
		}
	}
	return false, nil
}

// readHead reads up to n bytes at off: fewer at the end of the file.
func readHead(f vfs.File, off int64, n int) ([]byte, error) {
	b := make([]byte, n)
	n, err := f.ReadAt(b, off)
	if err == io.EOF {
		err = nil
	}
	return b[:n], err
}

// looksOurs reports whether a file is empty or of zeros, or the first that is
// there begins like a tier's: one of the magics, at the start of the smallest
// segment or of the file.
func looksOurs(f vfs.File) (bool, error) {
	for off := int64(0); ; off += format.MinSegment {
		b, err := readHead(f, off, format.MinSegment)
		switch {
		case err != nil:
			return false, err
		case slices.ContainsFunc(b, func(c byte) bool { return c != 0 }):
			return format.HasMagic(b), nil
		case len(b) < format.MinSegment:
			return true, nil
		}
	}
}
