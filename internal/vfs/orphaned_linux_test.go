package vfs_test

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"github.com/firncache/firn/internal/vfs"
)

// Memory goes when a scan finds that its directory has gone, and only then.
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
		"on another mount":     {lose: os.RemoveAll, change: func(page []byte) { page[0] ^= 1 }},
		"below another root":   {lose: os.RemoveAll, change: func(page []byte) { page[8] ^= 1 }},
		"place unknown":        {lose: os.RemoveAll, change: func(page []byte) { clear(page) }},
		"no path":              {lose: os.RemoveAll, change: func(page []byte) { clear(page[16:18]) }},
		"path beyond the page": {lose: os.RemoveAll, change: func(page []byte) { page[16], page[17] = 0xff, 0xff }},
	} {
		t.Run(what, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "lost")
			handle, b := lostSegment(t, dir)
			if c.change != nil {
				c.change(b[vfs.SegmentHeaderSize:os.Getpagesize()])
			}
			if !c.open {
				must(t, unix.SysvShmDetach(b))
			}
			must(t, c.lose(dir))
			vfs.ScanForLost()
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
	keeper, _ := fsys.(vfs.MemoryKeeper)
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
		there, _ := fsys.(vfs.MemoryKeeper)
		again, err := there.OpenMemory(m.ID())
		must(t, err)
		must(t, again.Close())
		must(t, os.Mkdir(dir, 0o700))
		other, err := keeper.NewMemory(10)
		must(t, err)
		vfs.ScanForLost()
		must(t, other.Remove())
		must(t, other.Close())
		again, err = there.OpenMemory(m.ID())
		must(t, err)
		must(t, again.Remove())
		must(t, again.Close())
	})
}

// A scan that waits for another directory's disk keeps no memory from being made, nor has it
// anything attached meanwhile. There is one at a time.
// Not parallel: other tests scan, too.
func TestScanThatWaits(t *testing.T) {
	keeper, _ := osKeeper(t)
	handle, b := lostSegment(t, filepath.Join(t.TempDir(), "lost"))
	must(t, unix.SysvShmDetach(b))
	stuck, release := make(chan struct{}, 10), make(chan struct{})
	defer vfs.SetLost(func([]byte) bool {
		stuck <- struct{}{}
		<-release
		return true
	})()
	for range 2 {
		must(t, newMemory(t, keeper, 10).Close())
	}
	<-stuck
	var st unix.SysvShmDesc
	if _, err := unix.SysvShmCtl(handle, unix.IPC_STAT, &st); err != nil || st.Nattch != 0 {
		t.Errorf("the memory is attached %d times, %v", st.Nattch, err)
	}
	if len(stuck) > 0 {
		t.Error("two scans are under way")
	}
	close(release)
	for vfs.Scanning() {
		runtime.Gosched()
	}
	if _, err := unix.SysvShmCtl(handle, unix.IPC_STAT, &st); err == nil {
		t.Error("the memory is still there")
	}
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
