package vfs

import (
	"errors"
	"io"
	"os"
)

// existingFS is a directory to look at, whosever it is: nothing in it is written.
type existingFS struct{ osFS }

var errToLookAt = errors.New("the directory is open to look at")

// Open opens regular files of any user, to read.
func (d existingFS) Open(name string, opts OpenOptions) (File, error) {
	if err := CheckName("open", name); err != nil {
		return nil, err
	}
	if !opts.ReadOnly || opts.Create || opts.Direct {
		return nil, pathError("open", d.path(name), errToLookAt)
	}
	f, err := openRegular(d.path(name), os.O_RDONLY, checkPlain)
	if err != nil {
		return nil, err
	}
	return &osFile{file: f, align: 1}, nil
}

// Lock locks a file of any user.
func (d existingFS) Lock(name string) (io.Closer, error) { return d.lock(name, checkPlain) }

// NewMemory makes none.
func (d existingFS) NewMemory(int64) (Memory, error) {
	return nil, pathError(opNewMemory, string(d.osFS), errToLookAt)
}
