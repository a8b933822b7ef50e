package vfs

import "io"

// FS is what a tier needs of a file system: one directory, whose files are
// named without a path.
type FS interface {
	// Open opens a file.
	Open(name string, how How) (File, error)
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

// How says how a file is opened, for reading and writing unless ReadOnly.
type How struct {
	ReadOnly bool
	Create   bool // make the file if there is none
	Direct   bool // past the page cache: offsets, lengths and addresses are multiples of File.Align
}

// File is an open file. Its methods are safe for concurrent use. Reads and
// writes are complete or fail: short ones and interruptions are continued.
type File interface {
	// ReadAt is io.ReaderAt; at the end of the file it returns what there is
	// and io.EOF.
	io.ReaderAt
	io.WriterAt
	io.Closer
	// Size is the length of the file in bytes.
	Size() (int64, error)
	// Allocate makes the file size bytes long and reserves its blocks, so that
	// writes inside it need no new ones.
	Allocate(size int64) error
	// Truncate cuts the file, or extends it by zeros that occupy nothing.
	Truncate(size int64) error
	// Sync makes what was written survive a crash of the machine.
	Sync() error
	// Align is what offsets, lengths and addresses must be multiples of in
	// bytes: 1 unless the file was opened with Direct.
	Align() int
	// Fd is the file's descriptor for asynchronous reads; false if it has none
	// or must not be passed by.
	Fd() (uintptr, bool)
}
