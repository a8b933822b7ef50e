package aio

import (
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/firncache/firn/internal/vfs"
)

// content is what every test file begins with: no eight bytes are twice in it.
var content = func() []byte {
	p := make([]byte, 1<<20)
	for i := 0; i < len(p); i += 8 {
		binary.LittleEndian.PutUint64(p[i:], uint64(i+1)*0x9e3779b97f4a7c15)
	}
	return p
}()

// file is a real file, whose reads by method pass through hook.
type file struct {
	vfs.File // nil: a call of what is not below fails
	f        *os.File
	align    int
	hidden   bool // Fd says no
	hook     func(p []byte, off int64) (n int, err error, handled bool)
	reads    atomic.Int64
}

func (f *file) ReadAt(p []byte, off int64) (int, error) {
	f.reads.Add(1)
	if f.hook != nil {
		if n, err, handled := f.hook(p, off); handled {
			return n, err
		}
	}
	return f.f.ReadAt(p, off)
}

func (f *file) Align() int { return max(f.align, 1) }

func (f *file) Fd() (uintptr, bool) {
	if f.hidden {
		return 0, false
	}
	return f.f.Fd(), true
}

// newFile makes a file of size bytes, at most 1 MiB, that goes at the test's end.
func newFile(t testing.TB, size int) *file {
	t.Helper()
	path := filepath.Join(t.TempDir(), "data")
	if err := os.WriteFile(path, content[:size], 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return &file{f: f}
}

// newDirectFile is newFile for direct I/O. size is a multiple of its alignment,
// for which the test's requests have to care.
func newDirectFile(t testing.TB, size int) vfs.File {
	t.Helper()
	dir := t.TempDir()
	fs, err := vfs.OS(dir)
	if err != nil {
		t.Fatal(err)
	}
	f, err := fs.Open("data", vfs.OpenOptions{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	_, werr := f.WriteAt(content[:size], 0)
	if err := errors.Join(werr, f.Sync(), f.Close()); err != nil {
		t.Fatal(err)
	}
	f, err = fs.Open("data", vfs.OpenOptions{ReadOnly: true, Direct: true})
	if err != nil {
		t.Skipf("cannot be tested on %s: %v", dir, err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// newPipe is a file whose reads hang until release writes n bytes for each of
// them. All ways of reading see it hang, libaio's once it has been
// left to preads.
func newPipe(t testing.TB) (f *file, release func(n int)) {
	t.Helper()
	from, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	_ = from.Fd() // makes it blocking
	t.Cleanup(func() { from.Close(); to.Close() })
	f = &file{f: from, hook: func(p []byte, _ int64) (int, error, bool) {
		n, err := io.ReadFull(from, p)
		return n, err, true
	}}
	return f, func(n int) {
		if _, err := to.Write(make([]byte, n)); err != nil {
			t.Error(err)
		}
	}
}

var errDisk = errors.New("the disk is broken")
