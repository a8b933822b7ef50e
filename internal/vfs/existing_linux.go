package vfs

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// OpenMemory finds the memory that a process left, whosever that was, to look at: it must not
// be written, and is not locked.
func (d existingFS) OpenMemory(id MemoryID) (Memory, error) {
	dir, err := d.directory()
	if err != nil {
		return nil, err
	}
	segment, _, err := dir.attach(id, unix.SHM_RDONLY)
	if err != nil {
		return nil, pathError(opOpenMemory, dir.path, fmt.Errorf("memory %d: %w", id.Handle, err))
	}
	return &keptMemory{id: id, dir: dir, segment: segment}, nil
}
