package ssd

import (
	"errors"
	"io"

	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/vfs"
)

// locks are what keeps others out of a directory.
type locks []io.Closer

func (l locks) Close() error {
	var errs []error
	for _, lock := range l {
		errs = append(errs, lock.Close())
	}
	return errors.Join(errs...)
}

// takeLocks locks the directory, where that can be, and the file in it that all
// systems can lock.
func takeLocks(fsys vfs.FS) (locks, error) {
	l, err := lockDir(fsys)
	if err != nil {
		return nil, err
	}
	file, err := fsys.Lock(format.LockName)
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return append(l, file), nil
}

// lockDir locks the directory itself: the file could be removed.
func lockDir(fsys vfs.FS) (locks, error) {
	d, ok := fsys.(vfs.DirLocker)
	if !ok {
		return nil, nil
	}
	lock, err := d.LockDir()
	if lock == nil || err != nil {
		return nil, err
	}
	return locks{lock}, nil
}
