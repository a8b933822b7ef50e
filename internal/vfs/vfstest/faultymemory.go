package vfstest

import (
	"errors"
	"io/fs"

	"github.com/firncache/firn/internal/vfs"
)

// faultyMemory is memory that outlives the process, of a Faulty.
type faultyMemory struct {
	vfs.Memory
	fs *Faulty
}

// NewMemory implements MemoryKeeper. Without a keeper behind the Faulty the system has
// no such memory.
func (f *Faulty) NewMemory(size int64) (vfs.Memory, error) {
	return f.memory(Op{Kind: OpNewMemory, Len: size}, func(k vfs.MemoryKeeper) (vfs.Memory, error) { return k.NewMemory(size) })
}

// OpenMemory implements MemoryKeeper.
func (f *Faulty) OpenMemory(id vfs.MemoryID) (vfs.Memory, error) {
	return f.memory(Op{Kind: OpOpenMemory}, func(k vfs.MemoryKeeper) (vfs.Memory, error) { return k.OpenMemory(id) })
}

func (f *Faulty) memory(op Op, open func(vfs.MemoryKeeper) (vfs.Memory, error)) (m vfs.Memory, err error) {
	err = f.do(op, func() error {
		keeper, ok := f.inner.(vfs.MemoryKeeper)
		if !ok {
			return pathError(op.Kind.String(), ".", errors.Join(fs.ErrNotExist, vfs.ErrNoKeptMemory))
		}
		m, err = open(keeper)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &faultyMemory{Memory: m, fs: f}, nil
}

func (m *faultyMemory) Remove() error {
	return m.fs.do(Op{Kind: OpRemoveMemory}, m.Memory.Remove)
}
