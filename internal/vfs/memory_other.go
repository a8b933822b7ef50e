//go:build !linux

package vfs

import (
	"fmt"
	"io/fs"
)

// NewMemory implements MemoryKeeper. macOS and the BSDs have System V shared memory,
// too, but of a few megabytes unless somebody has raised the limit.
func (d osFS) NewMemory(size int64) (Memory, error) {
	if err := CheckMemorySize(string(d), size); err != nil {
		return nil, err
	}
	return nil, pathError(opNewMemory, string(d), ErrNoKeptMemory)
}

// OpenMemory implements MemoryKeeper.
func (d osFS) OpenMemory(MemoryID) (Memory, error) {
	return nil, pathError(opOpenMemory, string(d), fmt.Errorf("%w: %w", fs.ErrNotExist, ErrNoKeptMemory))
}
