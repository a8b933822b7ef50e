package vfs

import (
	"errors"
	"fmt"
	"io/fs"
)

// ErrNoKeptMemory says that this system has no memory that outlives a process, or
// not as much as was requested.
var ErrNoKeptMemory = errors.New("no memory here that outlives the process")

// MemoryKeeper is an FS whose directory can have memory that outlives the process,
// but not the machine.
//
// The callers hold the lock of the directory: one process at a time uses its memory.
type MemoryKeeper interface {
	// NewMemory makes size bytes of memory, all zero. It stays when the process
	// ends, until it is removed or the machine goes down. Memory that an earlier
	// process left for this very directory is removed before, whether anybody
	// knows its MemoryID or not, unless it is open. So is memory that was left for
	// directories that are no longer where they were.
	//
	// The error is ErrNoKeptMemory where the system has none or refuses it.
	NewMemory(size int64) (Memory, error)
	// OpenMemory finds the memory that an earlier process made for this very
	// directory. The error is fs.ErrNotExist if there is none, or it is another's,
	// and ErrLocked if it is still open, here or in another process. What it does
	// not return it leaves as it is.
	OpenMemory(id MemoryID) (Memory, error)
}

// MemoryID is the number that one process writes down for the next to find its memory
// by. The zero value is that of none.
type MemoryID struct {
	Handle uint64 // where the system has it
	Key    uint64 // random, never 0: tells it from another that came to have its handle
}

// Memory is memory that outlives the process.
type Memory interface {
	ID() MemoryID
	// Bytes is the whole of it, page-aligned. It may be touched until Close.
	Bytes() []byte
	// Close takes it out of this process's address space; it stays for the next.
	// The second time it does nothing.
	Close() error
	// Leave is Close while others may still be touching the bytes: they stay where they
	// are, this process's alone from now on, as they were or zero. Where that takes
	// other pages, own puts them there: offheap.Region.Own, whose Region gives them back.
	Leave(own func() error) error
	// Remove gives it back to the system, now or when the last process has closed
	// it: it is not found any more. It may come before Close or after it. That it
	// is gone already is no error.
	Remove() error
}

// The names of the operations in errors.
const opNewMemory, opOpenMemory = "new memory", "open memory"

// CheckMemorySize refuses sizes that are none, as every MemoryKeeper does.
func CheckMemorySize(path string, size int64) error {
	if size <= 0 {
		return pathError(opNewMemory, path, fmt.Errorf("%w: %d bytes", fs.ErrInvalid, size))
	}
	return nil
}

// pathError is an error of an operation on a path, as package os makes them.
func pathError(op, path string, err error) error {
	return &fs.PathError{Op: op, Path: path, Err: err}
}
