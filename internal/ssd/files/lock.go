package files

import (
	"errors"
	"io"

	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/vfs"
)

// Locks keep others out of a directory.
type Locks []io.Closer

func (l Locks) Close() error {
	var errs []error
	for _, lock := range l {
		errs = append(errs, lock.Close())
	}
	return errors.Join(errs...)
}

// Lock locks the directory, where that can be, and the file in it that all
// systems can lock.
func Lock(fsys vfs.FS) (Locks, error) {
	l, err := LockDir(fsys)
	if err != nil {
		return nil, err
	}
	file, err := fsys.Lock(format.LockName)
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return append(l, file), nil
}

// LockDir locks the directory itself: the file could be removed.
func LockDir(fsys vfs.FS) (Locks, error) {
	d, ok := fsys.(vfs.DirLocker)
	if !ok {
		return nil, nil
	}
	lock, err := d.LockDir()
	if lock == nil || err != nil {
		return nil, err
	}
	return Locks{lock}, nil
}
