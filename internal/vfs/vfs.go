package vfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"reflect"
)

// Errors a caller may test for, beside those of io/fs.
var (
	// ErrLocked says that another owner holds the lock, here or in another process.
	ErrLocked = errors.New("locked by another owner")
	// ErrLockedHere is ErrLocked of a directory that this process has locked.
	ErrLockedHere = fmt.Errorf("%w, in this process", ErrLocked)
	// ErrNoDirect says that the file system or the operating system has no
	// direct I/O; the file can be opened without OpenOptions.Direct.
	ErrNoDirect = errors.New("no direct I/O on this file system")
	// ErrNoSpace is one of the errors that are NoSpace.
	ErrNoSpace = errsFull[0]
)

// FS is a tier's view of a file system: one directory, whose files are
// named without a path.
type FS interface {
	// Open opens a file. With OpenOptions.Direct the error is ErrNoDirect where there
	// is no direct I/O; OpenOptions.Create may have made the file all the same.
	Open(name string, opts OpenOptions) (File, error)
	// Remove deletes a file; that there is none is an error, fs.ErrNotExist.
	Remove(name string) error
	// Rename replaces newName by the file oldName.
	Rename(oldName, newName string) error
	// List names the files of the directory, sorted.
	List() ([]string, error)
	// SyncDir makes creations, removals and renames so far survive a crash of
	// the machine.
	SyncDir() error
	// Lock takes an exclusive lock by the name of a file, which it makes. It
	// fails at once with an error that is ErrLocked if another holds it, in this
	// process or another. The lock of a process that died is free.
	Lock(name string) (io.Closer, error)
	// Free is the bytes that the file system has left for this user.
	Free() (int64, error)
}

// DirLocker is an FS whose directory itself can be locked: unlike a file in it, that
// cannot be removed and made again while it is in use.
type DirLocker interface {
	// LockDir takes an exclusive lock of the directory, as FS.Lock does of a name.
	// The lock is nil where the file system has none.
	LockDir() (io.Closer, error)
}

// OpenOptions are the options of Open: for reading and writing unless ReadOnly.
type OpenOptions struct {
	ReadOnly bool
	Create   bool // make the file if there is none
	Direct   bool // past the page cache: offsets, lengths and addresses are multiples of File.Align
}

// File is an open file. Its methods are safe for concurrent use. Reads and
// writes are complete or fail: short ones and interruptions are continued. A
// write that failed may have reached the file in part, whatever it returned.
type File interface {
	// ReadAt is io.ReaderAt; at the end of the file it returns what there is
	// and io.EOF.
	io.ReaderAt
	io.WriterAt
	io.Closer
	// Size is the length of the file in bytes.
	Size() (int64, error)
	// Allocate makes the file size bytes long and reserves its blocks, so that
	// writes inside it need no new ones. If there is no space it fails now, with
	// an error that is NoSpace, and the file keeps its length.
	Allocate(size int64) error
	// Truncate cuts the file, or extends it by zeros that occupy nothing.
	Truncate(size int64) error
	// Sync makes written bytes survive a crash of the machine.
	Sync() error
	// Align is the alignment of offsets, lengths and addresses in
	// bytes: 1 unless the file was opened with Direct.
	Align() int
	// Fd is the file's descriptor for asynchronous reads; false if it has none
	// or must not be passed by.
	Fd() (uintptr, bool)
}

// NoSpace reports whether err says that the file system or the user's quota on
// it is full.
func NoSpace(err error) bool {
	for _, full := range errsFull {
		if errors.Is(err, full) {
			return true
		}
	}
	return false
}

// Aligned returns n bytes of the Go heap whose address is a multiple of align, a
// power of two: what reads and writes of a file opened with OpenOptions.Direct need.
func Aligned(n, align int) []byte {
	b := make([]byte, n+align)
	skip := int(-address(b) & uintptr(align-1))
	return b[skip : skip+n : skip+n]
}

// address is where the bytes of b begin.
func address(b []byte) uintptr { return reflect.ValueOf(b).Pointer() }

// CheckName refuses names that would lead out of the directory.
func CheckName(op, name string) error {
	if name == "." || !filepath.IsLocal(name) || filepath.Base(name) != name {
		return &fs.PathError{Op: op, Path: name, Err: fmt.Errorf("%w: not the plain name of a file", fs.ErrInvalid)}
	}
	return nil
}
