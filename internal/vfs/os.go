package vfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/gofrs/flock"
)

// OS returns the directory dir of the real file system, which it makes, for this
// user alone, if there is none. It makes sure that files can be made in it: the
// error names the path, and says if it is not a directory, may not be written or
// lies on a read-only file system.
//
// It refuses a directory whose files strangers could replace: one that is neither
// this user's nor root's, or where everybody may write, sticky or not. dir may
// be a symbolic link, files in it may not: the user who names the directory is trusted,
// who puts something there is not.
//
// On Windows a file that is open can be neither removed nor replaced.
func OS(dir string) (FS, error) {
	path, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("directory %s: %w", dir, err)
	}
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		return nil, fmt.Errorf("%s is a file, not a directory", path)
	}
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, fmt.Errorf("directory %s cannot be made: %w", path, err)
	}
	if err := checkDirectory(path); err != nil {
		return nil, fmt.Errorf("directory %s is not safe: %w", path, err)
	}
	probe, err := os.CreateTemp(path, "probe-*")
	if err != nil {
		return nil, fmt.Errorf("directory %s cannot be written: %w", path, err)
	}
	if err := errors.Join(probe.Close(), os.Remove(probe.Name())); err != nil {
		return nil, fmt.Errorf("directory %s cannot be written: %w", path, err)
	}
	return interpose(osFS(path)), nil
}

// OSExisting returns a directory as it is, to look at: it makes and writes nothing, whosever
// the directory and the files are.
func OSExisting(dir string) (FS, error) {
	path, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("directory %s: %w", dir, err)
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, fmt.Errorf("directory %s: %w", path, err)
	case !info.IsDir():
		return nil, fmt.Errorf("directory %s: not a directory", path)
	}
	return existingFS{osFS(path)}, nil
}

// osFS is the absolute path of a directory. Errors of package os name the path
// of the file.
type osFS string

func (d osFS) path(name string) string { return filepath.Join(string(d), name) }

func (d osFS) Open(name string, opts OpenOptions) (File, error) {
	if err := CheckName("open", name); err != nil {
		return nil, err
	}
	flag := os.O_RDWR
	if opts.ReadOnly {
		flag = os.O_RDONLY
	}
	if opts.Create {
		flag |= os.O_CREATE
	}
	if opts.Direct {
		return openDirect(d.path(name), flag)
	}
	f, err := openRegular(d.path(name), flag, checkRegular)
	if err != nil {
		return nil, err
	}
	return &osFile{file: f, align: 1}, nil
}

func (d osFS) Remove(name string) error {
	if err := CheckName("remove", name); err != nil {
		return err
	}
	return os.Remove(d.path(name))
}

func (d osFS) Rename(oldName, newName string) error {
	if err := errors.Join(CheckName("rename", oldName), CheckName("rename", newName)); err != nil {
		return err
	}
	return os.Rename(d.path(oldName), d.path(newName))
}

// List leaves out directories.
func (d osFS) List() ([]string, error) {
	entries, err := os.ReadDir(string(d))
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		if !e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

func (d osFS) SyncDir() error { return syncDir(string(d)) }

// Lock uses flock, or the system's counterpart: a lock of the open file,
// which the kernel drops with the process. The file stays, because removing it
// would let two owners lock two files of one name.
func (d osFS) Lock(name string) (io.Closer, error) { return d.lock(name, checkRegular) }

func (d osFS) lock(name string, check func(string, os.FileInfo) error) (io.Closer, error) {
	if err := CheckName("lock", name); err != nil {
		return nil, err
	}
	if info, err := os.Lstat(d.path(name)); err == nil {
		if err := check(d.path(name), info); err != nil {
			return nil, err
		}
	}
	lock := flock.New(d.path(name))
	ok, err := lock.TryLock()
	switch {
	case err != nil:
		return nil, &fs.PathError{Op: "lock", Path: d.path(name), Err: err}
	case !ok:
		return nil, &fs.PathError{Op: "lock", Path: d.path(name), Err: ErrLocked}
	}
	return lock, nil
}

// LockDir implements DirLocker.
func (d osFS) LockDir() (io.Closer, error) {
	lock, err := lockDir(string(d))
	if _, ours := locked.Load(string(d)); ours && errors.Is(err, ErrLocked) {
		err = ErrLockedHere
	}
	if err != nil {
		return nil, &fs.PathError{Op: "lock", Path: string(d), Err: err}
	}
	if lock == nil {
		return nil, nil
	}
	locked.Store(string(d), true)
	return ownLock{lock, string(d)}, nil
}

// locked has the directories that this process has locked.
var locked sync.Map

type ownLock struct {
	io.Closer
	path string
}

func (l ownLock) Close() error {
	locked.Delete(l.path)
	return l.Closer.Close()
}

func (d osFS) Free() (int64, error) {
	n, err := free(string(d))
	if err != nil {
		return 0, &fs.PathError{Op: "statfs", Path: string(d), Err: err}
	}
	return n, nil
}
