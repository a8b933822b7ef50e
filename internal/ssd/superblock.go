package ssd

import (
	"errors"
	"io"
	"io/fs"
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

var errMoved = errors.New("the files are no longer in the directory: they were removed, or it was moved away")

// inPlace is an error if the file with the superblock's name is missing, or another log's: what is
// made or removed by its name would not be this log's. A damaged one will be written again.
func (f *superFile) inPlace(fsys vfs.FS) error {
	named, err := fsys.Open(format.SuperblockName, vfs.OpenOptions{ReadOnly: true})
	if errors.Is(err, fs.ErrNotExist) {
		return errMoved
	}
	if err != nil {
		return err
	}
	s, err := format.ReadSuperblock(named)
	if err == nil && s.LogID != f.LogID || errors.Is(err, format.ErrLater) {
		return errors.Join(errMoved, named.Close())
	}
	return named.Close()
}
