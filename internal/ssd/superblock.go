package ssd

import (
	"io"
	"sync"

	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/vfs"
)

// superFile is the superblock's file, and the valid superblock in it.
type superFile struct {
	mu   sync.Mutex // of changes, held while they are written; after restarting, before budget.mu
	file vfs.File
	format.Superblock
}

// write changes the superblock. The change survives the process when this returns,
// and the machine after a sync.
func (f *superFile) write(change func(s *format.Superblock)) error {
	return f.update(format.WriteSuperblock, change)
}

// writeSynced is write that survives the machine when it returns.
func (f *superFile) writeSynced(change func(s *format.Superblock)) error {
	if err := f.write(change); err != nil {
		return err
	}
	return f.file.Sync()
}

// replace is write into both places: if one is damaged later, the other does not
// bring back an earlier state.
func (f *superFile) replace(change func(s *format.Superblock)) error {
	return f.update(format.ReplaceSuperblock, change)
}

func (f *superFile) update(put func(io.WriterAt, *format.Superblock) error, change func(s *format.Superblock)) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.Superblock
	change(&s)
	if err := put(f.file, &s); err != nil {
		return err
	}
	f.Superblock = s
	return nil
}
