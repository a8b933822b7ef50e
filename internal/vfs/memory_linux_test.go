package vfs_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firncache/firn/internal/vfs/vfstest"

	"golang.org/x/sys/unix"

	"github.com/firncache/firn/internal/vfs"
)

// memoryOf are the segments that a process made, a line each.
func memoryOf(pid int) (lines []string) {
	table, err := os.ReadFile("/proc/sysvipc/shm")
	if errors.Is(err, fs.ErrNotExist) {
		return nil // no such memory, or no /proc
	}
	if err != nil {
		return []string{err.Error()}
	}
	for line := range strings.Lines(string(table)) {
		if f := strings.Fields(line); len(f) > 4 && f[4] == fmt.Sprint(pid) {
			lines = append(lines, line)
		}
	}
	return lines
}

// osKeeper is a directory of the real file system, and its path.
func osKeeper(t *testing.T) (vfs.MemoryKeeper, string) {
	t.Helper()
	dir := t.TempDir()
	fsys, err := vfs.OS(dir)
	must(t, err)
	return keeperOf(t, fsys), dir
}

// segment is one that a test made, attached, until the test ends.
func segment(t *testing.T, name, size, mode int) (handle int, b []byte) {
	t.Helper()
	handle, err := unix.SysvShmGet(name, size, unix.IPC_CREAT|unix.IPC_EXCL|mode)
	must(t, err)
	t.Cleanup(func() {
		_, err := unix.SysvShmCtl(handle, unix.IPC_RMID, nil)
		must(t, err) // it has not been removed by others
	})
	b, err = unix.SysvShmAttach(handle, 0, 0)
	must(t, err)
	return handle, b
}

// A copy of a directory does not have its memory, and the directory by another path has.
func TestMemoryOfDirectory(t *testing.T) {
	t.Parallel()
	keeper, dir := osKeeper(t)
	m := newMemory(t, keeper, 10)
	copy(m.Bytes(), "0123456789")
	must(t, m.Close())

	other, link := filepath.Join(t.TempDir(), "copy"), filepath.Join(t.TempDir(), "link")
	must(t, os.CopyFS(other, os.DirFS(dir)))
	copied, err := vfs.OS(other)
	must(t, err)
	wantNoMemory(t, keeperOf(t, copied), m.ID())
	newMemory(t, keeperOf(t, copied), 10)

	must(t, os.Symlink(dir, link))
	linked, err := vfs.OS(link)
	must(t, err)
	byLink, _ := linked.(vfs.MemoryKeeper)
	if again := openMemory(t, byLink, m.ID()); string(again.Bytes()) != "0123456789" {
		t.Errorf("memory holds %q", again.Bytes())
	}
}

// What has the handle of the directory's memory and is not that is neither opened nor changed
// nor removed.
func TestMemoryForeign(t *testing.T) {
	t.Parallel()
	keeper, dir := osKeeper(t)
	page, key := os.Getpagesize(), uint64(12345)
	for what, c := range map[string]struct {
		size, mode int
		change     func(b []byte) // of a segment that is in order
		found      bool
	}{
		"nothing foreign":   {size: 2 * page, mode: 0o600, change: func([]byte) {}, found: true},
		"another magic":     {size: 2 * page, mode: 0o600, change: func(b []byte) { b[0]++ }},
		"another version":   {size: 2 * page, mode: 0o600, change: func(b []byte) { b[7]++ }},
		"another key":       {size: 2 * page, mode: 0o600, change: func(b []byte) { b[8]++ }},
		"another device":    {size: 2 * page, mode: 0o600, change: func(b []byte) { b[16]++ }},
		"another inode":     {size: 2 * page, mode: 0o600, change: func(b []byte) { b[24]++ }},
		"another size":      {size: 2 * page, mode: 0o600, change: func(b []byte) { b[32]++ }},
		"zeros":             {size: 2 * page, mode: 0o600, change: func(b []byte) { clear(b) }},
		"readable by all":   {size: 2 * page, mode: 0o644, change: func([]byte) {}},
		"writable by group": {size: 2 * page, mode: 0o660, change: func([]byte) {}},
		"a few bytes":       {size: 10, mode: 0o600, change: func([]byte) {}},
		"one page":          {size: page, mode: 0o600, change: func([]byte) {}},
	} {
		t.Run(what, func(t *testing.T) {
			handle, b := segment(t, unix.IPC_PRIVATE, c.size, c.mode)
			head, err := vfs.SegmentHeader(dir, key, b)
			must(t, err)
			copy(b, head)
			c.change(b)
			before := bytes.Clone(b)
			must(t, unix.SysvShmDetach(b))
			id := vfs.MemoryID{Handle: uint64(handle), Key: key}
			if c.found {
				m := openMemory(t, keeper, id)
				must(t, m.Close())
			} else {
				wantNoMemory(t, keeper, id)
			}
			b, err = unix.SysvShmAttach(handle, 0, 0)
			must(t, err)
			if !c.found && !bytes.Equal(b, before) {
				t.Error("it was changed")
			}
			must(t, unix.SysvShmDetach(b))
		})
	}
}

// Memory that has been given to another user is not ours, and stays.
func TestMemoryOfOtherUser(t *testing.T) {
	t.Parallel()
	keeper, _ := osKeeper(t)
	m := newMemory(t, keeper, 10)
	must(t, m.Close())
	handle := int(m.ID().Handle)
	give := func(uid int) {
		var st unix.SysvShmDesc
		_, err := unix.SysvShmCtl(handle, unix.IPC_STAT, &st)
		must(t, err)
		st.Perm.Uid = uint32(uid)
		_, err = unix.SysvShmCtl(handle, unix.IPC_SET, &st)
		must(t, err)
	}
	give(os.Geteuid() + 1)
	wantNoMemory(t, keeper, m.ID())
	newMemory(t, keeper, 10)
	give(os.Geteuid())
	must(t, openMemory(t, keeper, m.ID()).Close())
}

// What the system has removed is gone, also while a process still has it.
func TestMemoryRemovedBySystem(t *testing.T) {
	t.Parallel()
	keeper, _ := osKeeper(t)
	m := newMemory(t, keeper, 10)
	_, err := unix.SysvShmCtl(int(m.ID().Handle), unix.IPC_RMID, nil)
	must(t, err)
	wantNoMemory(t, keeper, m.ID())
	copy(m.Bytes(), "0123456789")
	must(t, m.Remove())
	must(t, m.Close())
	must(t, m.Remove())
}

// A core dump leaves memory out, and the error names the directory.
func TestMemoryAdviceAndErrors(t *testing.T) {
	t.Parallel()
	keeper, dir := osKeeper(t)
	m := newMemory(t, keeper, 1<<20)
	maps, err := os.ReadFile("/proc/self/smaps")
	must(t, err)
	at, inside := vfs.Address(m.Bytes()), false
	for line := range strings.Lines(string(maps)) {
		var from, to uintptr
		if _, err := fmt.Sscanf(line, "%x-%x ", &from, &to); err == nil {
			inside = from <= at && at < to
		}
		if flags, ok := strings.CutPrefix(line, "VmFlags:"); ok && inside && !strings.Contains(flags, " dd") {
			t.Errorf("flags %s: want dd among them", flags)
		}
	}
	_, err = keeper.OpenMemory(vfs.MemoryID{Handle: 1 << 30, Key: 1})
	var path *fs.PathError
	if !errors.As(err, &path) || path.Path != dir || path.Op != vfstest.OpOpenMemory.String() {
		t.Errorf("error %v does not name %s", err, dir)
	}
}
