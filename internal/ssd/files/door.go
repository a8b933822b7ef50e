package files

import (
	"io/fs"
	"sync"
	"sync/atomic"

	"github.com/firncache/firn/internal/vfs"
)

// Door is the tier's way to its files. It counts what goes through and may change
// them: so Close can tell a disk that is slow from one that does nothing, and the
// lock goes back only when the system has given back every operation, whoever
// asked for it. Reads change nothing, and are not counted here.
type Door struct {
	vfs.FS
	Wrote func(n int) // told of bytes that were written; nil: nobody

	under  atomic.Int64  // operations that the system has
	back   atomic.Uint64 // operations that it gave back
	closed atomic.Bool   // no other is begun

	mu   sync.Mutex
	idle sync.Cond // of mu: nothing is under way, and the door is closed
}

func NewDoor(fsys vfs.FS) *Door {
	d := &Door{FS: fsys}
	d.idle.L = &d.mu
	return d
}

// do lets an operation through, unless the door is closed.
func (d *Door) do(operation func() error) error {
	if err := d.enter(); err != nil {
		return err
	}
	defer d.leave()
	return operation()
}

// enter counts an operation before it looks whether the door is closed: close,
// which goes the other way round, waits for it, or the operation is not begun.
func (d *Door) enter() error {
	d.under.Add(1)
	if d.closed.Load() {
		d.uncount()
		return fs.ErrClosed
	}
	return nil
}

func (d *Door) leave() {
	d.back.Add(1)
	d.uncount()
}

func (d *Door) uncount() {
	if d.under.Add(-1) == 0 && d.closed.Load() {
		d.mu.Lock()
		d.idle.Broadcast()
		d.mu.Unlock()
	}
}

// Close returns when every operation has come back, and lets none begin from now
// on.
func (d *Door) Close() {
	d.closed.Store(true)
	d.mu.Lock()
	defer d.mu.Unlock()
	for d.under.Load() > 0 {
		d.idle.Wait()
	}
}

func (d *Door) Returned() uint64 { return d.back.Load() }

func (d *Door) Open(name string, how vfs.How) (file vfs.File, err error) {
	err = d.do(func() error {
		f, err := d.FS.Open(name, how)
		if err == nil {
			file = &doorFile{File: f, door: d}
		}
		return err
	})
	return file, err
}

func (d *Door) Remove(name string) error {
	return d.do(func() error { return d.FS.Remove(name) })
}

func (d *Door) Rename(oldName, newName string) error {
	return d.do(func() error { return d.FS.Rename(oldName, newName) })
}

func (d *Door) SyncDir() error { return d.do(d.FS.SyncDir) }

// doorFile is a file whose changes go through the door.
type doorFile struct {
	vfs.File
	door *Door
}

func (f *doorFile) WriteAt(p []byte, off int64) (int, error) {
	if err := f.door.enter(); err != nil {
		return 0, err
	}
	defer f.door.leave()
	n, err := f.File.WriteAt(p, off)
	if f.door.Wrote != nil {
		f.door.Wrote(n)
	}
	return n, err
}

func (f *doorFile) Sync() error { return f.door.do(f.File.Sync) }

func (f *doorFile) Allocate(size int64) error {
	return f.door.do(func() error { return f.File.Allocate(size) })
}

func (f *doorFile) Truncate(size int64) error {
	return f.door.do(func() error { return f.File.Truncate(size) })
}
