package files

import (
	"io/fs"
	"sync"
	"sync/atomic"

	"github.com/firncache/firn/internal/vfs"
)

// TrackedFS is the tier's way to its files. It counts operations and bytes and may change
// them: so Close can distinguish a disk that is slow from one that does nothing, and the
// lock goes back only when the system has given back every operation of
// any caller. Reads change nothing, and are not counted here.
type TrackedFS struct {
	vfs.FS
	Wrote func(n int) // called with the number of bytes after each write; nil: never

	under  atomic.Int64  // operations that the system has
	back   atomic.Uint64 // operations that it gave back
	closed atomic.Bool   // no other is begun

	mu   sync.Mutex
	idle sync.Cond // of mu: nothing is under way, and it is closed
}

func NewTrackedFS(fsys vfs.FS) *TrackedFS {
	d := &TrackedFS{FS: fsys}
	d.idle.L = &d.mu
	return d
}

// do lets an operation through, unless it is closed.
func (d *TrackedFS) do(operation func() error) error {
	if err := d.enter(); err != nil {
		return err
	}
	defer d.leave()
	return operation()
}

// enter counts an operation before it looks whether that is closed: close,
// which goes the other way round, waits for it, or the operation is not begun.
func (d *TrackedFS) enter() error {
	d.under.Add(1)
	if d.closed.Load() {
		d.uncount()
		return fs.ErrClosed
	}
	return nil
}

func (d *TrackedFS) leave() {
	d.back.Add(1)
	d.uncount()
}

func (d *TrackedFS) uncount() {
	if d.under.Add(-1) == 0 && d.closed.Load() {
		d.mu.Lock()
		d.idle.Broadcast()
		d.mu.Unlock()
	}
}

// Refuse lets no operation begin from now on: its error is fs.ErrClosed.
func (d *TrackedFS) Refuse() { d.closed.Store(true) }

// Close is Refuse that returns when every operation has come back.
func (d *TrackedFS) Close() {
	d.Refuse()
	d.mu.Lock()
	defer d.mu.Unlock()
	for d.under.Load() > 0 {
		d.idle.Wait()
	}
}

func (d *TrackedFS) Returned() uint64 { return d.back.Load() }

func (d *TrackedFS) Open(name string, opts vfs.OpenOptions) (file vfs.File, err error) {
	err = d.do(func() error {
		f, err := d.FS.Open(name, opts)
		if err == nil {
			file = &trackedFile{File: f, fs: d}
		}
		return err
	})
	return file, err
}

func (d *TrackedFS) Remove(name string) error {
	return d.do(func() error { return d.FS.Remove(name) })
}

func (d *TrackedFS) Rename(oldName, newName string) error {
	return d.do(func() error { return d.FS.Rename(oldName, newName) })
}

func (d *TrackedFS) SyncDir() error { return d.do(d.FS.SyncDir) }

// trackedFile is a file whose changes are counted.
type trackedFile struct {
	vfs.File
	fs *TrackedFS
}

func (f *trackedFile) WriteAt(p []byte, off int64) (int, error) {
	if err := f.fs.enter(); err != nil {
		return 0, err
	}
	defer f.fs.leave()
	n, err := f.File.WriteAt(p, off)
	if f.fs.Wrote != nil {
		f.fs.Wrote(n)
	}
	return n, err
}

func (f *trackedFile) Sync() error { return f.fs.do(f.File.Sync) }

func (f *trackedFile) Allocate(size int64) error {
	return f.fs.do(func() error { return f.File.Allocate(size) })
}

func (f *trackedFile) Truncate(size int64) error {
	return f.fs.do(func() error { return f.File.Truncate(size) })
}
