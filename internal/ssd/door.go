package ssd

import (
	"io/fs"
	"sync"
	"sync/atomic"
	"time"

	"github.com/firncache/firn/internal/vfs"
)

// door is the tier's way to its files. It counts what goes through and may change
// them: so Close can tell a disk that is slow from one that does nothing, and the
// lock goes back only when the system has given back every operation, whoever
// asked for it. Reads change nothing, and are not counted here.
type door struct {
	vfs.FS
	wrote func(n int) // told of bytes that were written; nil: nobody

	under  atomic.Int64  // operations that the system has
	back   atomic.Uint64 // operations that it gave back
	closed atomic.Bool   // no other is begun

	mu   sync.Mutex
	idle sync.Cond // of mu: nothing is under way, and the door is closed
}

func newDoor(fsys vfs.FS) *door {
	d := &door{FS: fsys}
	d.idle.L = &d.mu
	return d
}

// do lets an operation through, unless the door is closed.
func (d *door) do(operation func() error) error {
	if err := d.enter(); err != nil {
		return err
	}
	defer d.leave()
	return operation()
}

// enter counts an operation before it looks whether the door is closed: close,
// which goes the other way round, waits for it, or the operation is not begun.
func (d *door) enter() error {
	d.under.Add(1)
	if d.closed.Load() {
		d.uncount()
		return fs.ErrClosed
	}
	return nil
}

func (d *door) leave() {
	d.back.Add(1)
	d.uncount()
}

func (d *door) uncount() {
	if d.under.Add(-1) == 0 && d.closed.Load() {
		d.mu.Lock()
		d.idle.Broadcast()
		d.mu.Unlock()
	}
}

// close returns when every operation has come back, and lets none begin from now
// on.
func (d *door) close() {
	d.closed.Store(true)
	d.mu.Lock()
	defer d.mu.Unlock()
	for d.under.Load() > 0 {
		d.idle.Wait()
	}
}

func (d *door) returned() uint64 { return d.back.Load() }

// await waits for done, as long as operations come back, of which returned is how
// many have: it reports false when for patience none has.
func await(done <-chan struct{}, patience time.Duration, returned func() uint64) bool {
	const looks = 4 // within patience
	timer := time.NewTicker(max(patience/looks, 1))
	defer timer.Stop()
	for last, still := returned(), 0; still < looks; {
		select {
		case <-done:
			return true
		case <-timer.C:
		}
		still++
		if now := returned(); now != last {
			last, still = now, 0
		}
	}
	return false
}

func (d *door) Open(name string, how vfs.How) (file vfs.File, err error) {
	err = d.do(func() error {
		f, err := d.FS.Open(name, how)
		if err == nil {
			file = &doorFile{File: f, door: d}
		}
		return err
	})
	return file, err
}

func (d *door) Remove(name string) error {
	return d.do(func() error { return d.FS.Remove(name) })
}

func (d *door) Rename(oldName, newName string) error {
	return d.do(func() error { return d.FS.Rename(oldName, newName) })
}

func (d *door) SyncDir() error { return d.do(d.FS.SyncDir) }

// doorFile is a file whose changes go through the door.
type doorFile struct {
	vfs.File
	door *door
}

func (f *doorFile) WriteAt(p []byte, off int64) (int, error) {
	if err := f.door.enter(); err != nil {
		return 0, err
	}
	defer f.door.leave()
	n, err := f.File.WriteAt(p, off)
	if f.door.wrote != nil {
		f.door.wrote(n)
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
