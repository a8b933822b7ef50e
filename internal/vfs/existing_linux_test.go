package vfs_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/firncache/firn/internal/vfs"
)

// asService runs f as another user. The thread that is his ends with the goroutine.
func asService(t *testing.T, user int, f func()) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root becomes another user")
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		id := uintptr(user)
		if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, id, id, id); errno != 0 {
			t.Error(errno)
			return
		}
		f()
	}()
	<-done
}

// Root looks at the directory of a service's user, and at the memory that the service left: he
// changes nothing there, and can change nothing.
func TestLookAtServicesDirectory(t *testing.T) {
	const service = 65534
	parent := t.TempDir()
	must(t, os.Chmod(filepath.Dir(parent), 0o755))
	must(t, os.Chmod(parent, 0o755))
	dir := filepath.Join(parent, "service")
	must(t, os.Mkdir(dir, 0o700))
	must(t, os.Chown(dir, service, service))
	var id vfs.MemoryID
	asService(t, service, func() {
		fsys, err := vfs.OS(dir)
		must(t, err)
		m, err := keeperOf(t, fsys).NewMemory(10)
		must(t, err)
		copy(m.Bytes(), "0123456789")
		id = m.ID()
		must(t, m.Close())
		for _, name := range []string{"log", "lock"} {
			must(t, os.WriteFile(filepath.Join(dir, name), []byte("bytes"), 0o600))
		}
	})
	defer unix.SysvShmCtl(int(id.Handle), unix.IPC_RMID, nil)
	firstPage := func() []byte {
		b, err := unix.SysvShmAttach(int(id.Handle), 0, unix.SHM_RDONLY)
		must(t, err)
		defer func() { _ = unix.SysvShmDetach(b) }()
		return bytes.Clone(b[:os.Getpagesize()])
	}
	before := firstPage()
	moved := filepath.Join(parent, "moved")
	must(t, os.Rename(dir, moved))
	fsys, err := vfs.OSExisting(moved)
	must(t, err)
	f, err := fsys.Open("log", vfs.OpenOptions{ReadOnly: true})
	must(t, err)
	must(t, f.Close())
	lock, err := fsys.Lock("lock")
	must(t, err)
	must(t, lock.Close())
	if f, err := fsys.Open("log", vfs.OpenOptions{}); err == nil {
		t.Error("a file that is there to look at is open to be written")
		_ = f.Close()
	}
	keeper, _ := fsys.(vfs.MemoryKeeper)
	for range 2 { // one that another process has open, too
		m := openMemory(t, keeper, id)
		if string(m.Bytes()) != "0123456789" {
			t.Errorf("memory holds %q", m.Bytes())
		}
	}
	if !bytes.Equal(firstPage(), before) {
		t.Error("the memory's first page has changed")
	}
	if m, err := keeper.NewMemory(1); err == nil {
		t.Error("memory is made in a directory to look at")
		_ = errors.Join(m.Remove(), m.Close())
	}
}
