package vfs

import (
	"errors"
	"io/fs"
)

// faultyMemory is memory that outlives the process, of a Faulty.
type faultyMemory struct {
	Memory
	fs *Faulty
}

// NewMemory implements MemoryKeeper. Without a keeper behind the Faulty the system has
// no such memory.
func (f *Faulty) NewMemory(size int64) (Memory, error) {
	return f.memory(Op{Kind: OpNewMemory, Len: size}, func(k MemoryKeeper) (Memory, error) { return k.NewMemory(size) })
}

// OpenMemory implements MemoryKeeper.
func (f *Faulty) OpenMemory(id MemoryID) (Memory, error) {
	return f.memory(Op{Kind: OpOpenMemory}, func(k MemoryKeeper) (Memory, error) { return k.OpenMemory(id) })
}

func (f *Faulty) memory(op Op, open func(MemoryKeeper) (Memory, error)) (m Memory, err error) {
	err = f.do(op, func() error {
		keeper, ok := KeeperOf(f.inner)
		if !ok {
			return pathError(op.Kind.String(), ".", errors.Join(fs.ErrNotExist, ErrNoKeptMemory))
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
