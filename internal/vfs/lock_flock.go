//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package vfs

import (
	"errors"
	"io"
	"os"
	"syscall"
)

// lockDir locks the directory itself, so that the lock cannot be removed as a file
// can. It returns nil where the file system has no such locks, as NFS, which wants
// the file it locks to be open for writing.
func lockDir(path string) (io.Closer, error) {
	d, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	for err = syscall.EINTR; errors.Is(err, syscall.EINTR); {
		err = syscall.Flock(int(d.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	}
	if err == nil {
		return dirLock{d}, nil
	}
	_ = d.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, ErrLocked
	}
	return nil, nil
}

// dirLock is a directory that is open and locked.
type dirLock struct{ *os.File }

// Close unlocks it for every process that has its descriptor, as one that is being
// started at this moment has.
func (d dirLock) Close() error {
	return errors.Join(syscall.Flock(int(d.Fd()), syscall.LOCK_UN), d.File.Close())
}
