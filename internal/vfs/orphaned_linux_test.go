package vfs_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"github.com/firncache/firn/internal/vfs"
)

// Memory goes when other memory is made after its directory has gone, and only then.
// Not parallel: other tests would have the memory attached for a moment, or make a
// directory with the same inode.
func TestMemoryOfLostDirectory(t *testing.T) {
	for what, c := range map[string]struct {
		lose   func(dir string) error
		change func(page []byte) // of the place in the first page
		open   bool              // by a process
		gone   bool
	}{
		"deleted":              {lose: os.RemoveAll, gone: true},
		"deleted and new":      {lose: renew, gone: true},
		"there":                {lose: func(string) error { return nil }},
		"deleted but open":     {lose: os.RemoveAll, open: true},
		"in another container": {lose: os.RemoveAll, change: func(page []byte) { page[0] ^= 1 }},
		"place unknown":        {lose: os.RemoveAll, change: func(page []byte) { clear(page) }},
		"no path":              {lose: os.RemoveAll, change: func(page []byte) { clear(page[8:10]) }},
		"path beyond the page": {lose: os.RemoveAll, change: func(page []byte) { page[8], page[9] = 0xff, 0xff }},
	} {
		t.Run(what, func(t *testing.T) {
			keeper, _ := osKeeper(t)
			dir := filepath.Join(t.TempDir(), "lost")
			handle, b := lostSegment(t, dir)
			if c.change != nil {
				c.change(b[vfs.SegmentHeaderSize:os.Getpagesize()])
			}
			if !c.open {
				must(t, unix.SysvShmDetach(b))
			}
			must(t, c.lose(dir))
			newMemory(t, keeper, 10)
			var st unix.SysvShmDesc
			_, err := unix.SysvShmCtl(handle, unix.IPC_STAT, &st)
			const removed = 0o1000 // goes when nobody has it attached
			if gone := err != nil || st.Perm.Mode&removed != 0; gone != c.gone {
				t.Errorf("gone: %v, want %v (%v)", gone, c.gone, err)
			}
			if c.open {
				must(t, unix.SysvShmDetach(b))
			}
		})
	}
}

// renew makes another directory in the place of one.
func renew(dir string) error {
	if err := os.Rename(dir, dir+"-before"); err != nil {
		return err
	}
	return os.Mkdir(dir, 0o700)
}

// lostSegment is the memory that a process left for the directory dir, which it makes,
// attached. It is gone after the test.
func lostSegment(t *testing.T, dir string) (handle int, b []byte) {
	t.Helper()
	fsys, err := vfs.OS(dir)
	must(t, err)
	keeper, _ := vfs.KeeperOf(fsys)
	m, err := keeper.NewMemory(10)
	must(t, err)
	handle = int(m.ID().Handle)
	t.Cleanup(func() { _, _ = unix.SysvShmCtl(handle, unix.IPC_RMID, nil) })
	b, err = unix.SysvShmAttach(handle, 0, 0)
	must(t, err)
	must(t, m.Close())
	return handle, b
}

// A path that has no place in the first page is not noted, and the memory not lost.
func TestMemoryOfLongPath(t *testing.T) {
	t.Parallel()
	page := make([]byte, 2*os.Getpagesize())
	for i := range page {
		page[i] = 7
	}
	vfs.NotePlace("/"+strings.Repeat("d", os.Getpagesize()), page)
	want := append(bytes.Repeat([]byte{7}, vfs.SegmentHeaderSize), make([]byte, os.Getpagesize()-vfs.SegmentHeaderSize)...)
	want = append(want, strings.Repeat("\x07", os.Getpagesize())...)
	if !bytes.Equal(page, want) {
		t.Error("other bytes than those of the place were written, or a part of it")
	}
}

// A directory that was moved has its memory, and is not lost from then on.
func TestMemoryOfMovedDirectory(t *testing.T) {
	t.Parallel()
	keeper, dir := osKeeper(t)
	moved := filepath.Join(t.TempDir(), "moved")
	inNamespace(t, func() { // others would find the memory lost before it is opened
		m, err := keeper.NewMemory(10)
		must(t, err)
		must(t, m.Close())
		must(t, os.Rename(dir, moved))
		fsys, err := vfs.OS(moved)
		must(t, err)
		there, _ := vfs.KeeperOf(fsys)
		again, err := there.OpenMemory(m.ID())
		must(t, err)
		must(t, again.Close())
		must(t, os.Mkdir(dir, 0o700))
		other, err := keeper.NewMemory(10) // removes what is lost
		must(t, err)
		must(t, other.Remove())
		must(t, other.Close())
		again, err = there.OpenMemory(m.ID())
		must(t, err)
		must(t, again.Remove())
		must(t, again.Close())
	})
}

// Whoever looks at memory for a moment does not keep its process from opening it.
func TestMemoryOpenForAMoment(t *testing.T) {
	t.Parallel()
	keeper, _ := osKeeper(t)
	m := newMemory(t, keeper, 10)
	must(t, m.Close())
	look, err := unix.SysvShmAttach(int(m.ID().Handle), 0, unix.SHM_RDONLY)
	must(t, err)
	synctest.Test(t, func(t *testing.T) {
		done := make(chan error)
		go func() {
			time.Sleep(10 * time.Millisecond)
			done <- unix.SysvShmDetach(look)
		}()
		again, err := keeper.OpenMemory(m.ID())
		must(t, <-done)
		must(t, err)
		must(t, again.Close())
	})
}
