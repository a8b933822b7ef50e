package vfs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// errNotRegular says that a name stands for no plain file: a link could lead to
// somebody else's, a pipe or a device would answer for it.
var errNotRegular = errors.New("not a regular file")

// openRegular opens a file that passes check: checkRegular, or checkPlain to look at it. A
// symbolic link is not followed.
func openRegular(path string, flag int, check func(string, os.FileInfo) error) (*os.File, error) {
	info, err := os.Lstat(path) // a pipe would have to be opened to be looked at, and might wait
	switch {
	case err == nil:
		if err := check(path, info); err != nil {
			return nil, err
		}
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	f, err := os.OpenFile(path, flag|noFollow, 0o600)
	if err != nil {
		return nil, err
	}
	if info, err = f.Stat(); err == nil {
		err = check(path, info)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// checkRegular wants a regular file that is this user's or root's: in a directory where others
// may make files, one could have been put there for us to write into.
func checkRegular(path string, info os.FileInfo) error {
	if err := checkPlain(path, info); err != nil {
		return err
	}
	if err := checkOwner(info); err != nil {
		return pathError("open", path, err)
	}
	return nil
}

// checkPlain wants a regular file.
func checkPlain(path string, info os.FileInfo) error {
	if !info.Mode().IsRegular() {
		return pathError("open", path, fmt.Errorf("%w: %v", errNotRegular, info.Mode()))
	}
	return nil
}

// checkDirectory makes sure that no stranger can replace the files of a directory:
// it is this user's or root's, and only the user and the group may write there.
// The path itself may be a symbolic link.
func checkDirectory(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if err := checkOwner(info); err != nil {
		return err
	}
	return checkMode(info.Mode())
}
