package vfstest

import (
	"fmt"
	"io"
	"io/fs"
	"math"
	"reflect"

	"github.com/firncache/firn/internal/vfs"
)

// memFile is an open file of a Mem.
type memFile struct {
	mem      *Mem
	node     *node
	name     string // when it was opened
	align    int
	readOnly bool
	closed   bool // guarded by Mem.mu
}

// check is done before every operation, with Mem.mu held.
func (f *memFile) check(op string, writes bool) error {
	switch {
	case f.closed:
		return pathError(op, f.name, fs.ErrClosed)
	case writes && f.readOnly:
		return pathError(op, f.name, fmt.Errorf("%w: opened read-only", fs.ErrPermission))
	}
	return nil
}

// checkRange panics where direct I/O would fail with EINVAL: an error might pass
// for a broken disk, which the tier under test has to survive.
func (f *memFile) checkRange(op string, p []byte, off int64) error {
	if off < 0 || off > math.MaxInt64-int64(len(p)) {
		return pathError(op, f.name, fmt.Errorf("%w: offset %d", fs.ErrInvalid, off))
	}
	unit := f.align
	if unit > 1 && (off%int64(unit) != 0 || len(p)%unit != 0 || len(p) > 0 && reflect.ValueOf(p).Pointer()%uintptr(unit) != 0) {
		panic(fmt.Sprintf("vfs: %s of %d bytes at %#x to or from offset %d of %s: direct I/O wants multiples of %d",
			op, len(p), reflect.ValueOf(p).Pointer(), off, f.name, unit))
	}
	return nil
}

func (f *memFile) ReadAt(p []byte, off int64) (int, error) {
	f.mem.mu.RLock()
	defer f.mem.mu.RUnlock()
	if err := f.check("read", false); err != nil {
		return 0, err
	}
	if err := f.checkRange("read", p, off); err != nil || len(p) == 0 {
		return 0, err
	}
	n := min(int64(len(p)), max(0, f.node.size-off))
	f.node.read(p[:n], off)
	if n < int64(len(p)) {
		return int(n), io.EOF
	}
	return int(n), nil
}

// WriteAt writes the blocks for which there is space.
func (f *memFile) WriteAt(p []byte, off int64) (int, error) {
	f.mem.mu.Lock()
	defer f.mem.mu.Unlock()
	if err := f.check("write", true); err != nil {
		return 0, err
	}
	if err := f.checkRange("write", p, off); err != nil || len(p) == 0 {
		return 0, err
	}
	f.mem.moment++
	n := f.write(p, off)
	if n > 0 {
		f.node.setSize(max(f.node.size, off+int64(n)), f.mem.moment)
	}
	if n < len(p) {
		return n, pathError("write", f.name, vfs.ErrNoSpace)
	}
	return n, nil
}

func (f *memFile) write(p []byte, off int64) (n int) {
	for n < len(p) {
		i, in := (off+int64(n))/blockSize, (off+int64(n))%blockSize
		if i >= f.node.reserved && f.node.at(i) == nil && !f.mem.charge(f.node, 1) {
			return n
		}
		k := min(len(p)-n, int(blockSize-in))
		f.node.writeBlock(i, in, p[n:n+k], f.mem.moment)
		n += k
	}
	return n
}

func (f *memFile) Size() (int64, error) {
	f.mem.mu.RLock()
	defer f.mem.mu.RUnlock()
	return f.node.size, f.check("stat", false)
}

func (f *memFile) Allocate(size int64) error {
	f.mem.mu.Lock()
	defer f.mem.mu.Unlock()
	if err := f.checkLength("allocate", size); err != nil {
		return err
	}
	if want := blocksOf(size); want > f.node.reserved {
		more := want - f.node.reserved
		for _, i := range f.node.blocks() {
			if i >= f.node.reserved && i < want {
				more--
			}
		}
		if !f.mem.charge(f.node, more) {
			return pathError("allocate", f.name, fmt.Errorf("%d bytes: %w", size, vfs.ErrNoSpace))
		}
		f.node.reserved = want
	}
	f.truncate(size)
	return nil
}

func (f *memFile) Truncate(size int64) error {
	f.mem.mu.Lock()
	defer f.mem.mu.Unlock()
	if err := f.checkLength("truncate", size); err != nil {
		return err
	}
	f.truncate(size)
	return nil
}

func (f *memFile) checkLength(op string, size int64) error {
	if err := f.check(op, true); err != nil {
		return err
	}
	if size < 0 {
		return pathError(op, f.name, fmt.Errorf("%w: %d bytes", fs.ErrInvalid, size))
	}
	return nil
}

func (f *memFile) truncate(size int64) {
	f.mem.moment++
	f.node.truncate(size, f.mem.moment)
	f.mem.used += f.node.recount()
}

func (f *memFile) Sync() error {
	f.mem.mu.Lock()
	defer f.mem.mu.Unlock()
	if err := f.check("sync", false); err != nil {
		return err
	}
	f.node.sync()
	return nil
}

// failSync changes the file as a failed sync of its blocks does.
func (f *memFile) failSync() {
	f.mem.mu.Lock()
	defer f.mem.mu.Unlock()
	f.node.failSync()
}

func (f *memFile) Close() error {
	f.mem.mu.Lock()
	defer f.mem.mu.Unlock()
	if err := f.check("close", false); err != nil {
		return err
	}
	f.closed = true
	f.node.users--
	f.mem.drop(f.node)
	return nil
}

func (f *memFile) Align() int { return f.align }

// Fd says that there is no descriptor.
func (f *memFile) Fd() (uintptr, bool) { return 0, false }
