package vfs_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/firncache/firn/internal/vfs"
)

// mount makes a tmpfs, or skips the test where only root may.
func mount(t *testing.T, flags uintptr, options string) string {
	t.Helper()
	dir := t.TempDir()
	err := unix.Mount("tmpfs", dir, "tmpfs", flags, options+",mode=0700")
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) {
		t.Skipf("a tmpfs cannot be mounted: %v", err)
	}
	must(t, err)
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func TestOSReadOnly(t *testing.T) {
	dir := mount(t, unix.MS_RDONLY, "")
	_, err := vfs.OS(dir)
	wantErr(t, err, unix.EROFS)
	if err == nil || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "read-only") {
		t.Errorf("error %v: want one that names %s as read-only", err, dir)
	}
	_, err = vfs.OS(filepath.Join(dir, "new"))
	wantErr(t, err, unix.EROFS)
	_, err = vfs.OSExisting(dir)
	must(t, err)
}

func TestOSNoPermission(t *testing.T) {
	dir := t.TempDir()
	must(t, os.Chmod(filepath.Dir(dir), 0o755))
	must(t, os.Chmod(dir, 0o555))
	defer os.Chmod(dir, 0o700)
	asNobody(t, func() {
		for _, path := range []string{dir, filepath.Join(dir, "new")} {
			_, err := vfs.OS(path)
			wantErr(t, err, fs.ErrPermission)
			if err == nil || !strings.Contains(err.Error(), path) {
				t.Errorf("error %v does not name %s", err, path)
			}
		}
		if _, err := vfs.OSExisting(dir); err != nil {
			t.Error(err)
		}
	})
}

// asNobody runs f without root's power over files. The thread that gave it up
// ends with the goroutine.
func asNobody(t *testing.T, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		if os.Getuid() == 0 {
			runtime.LockOSThread()
			if err := unix.Setfsuid(65534); err != nil {
				t.Error(err)
				return
			}
		}
		f()
	}()
	<-done
}

// mountExt4 makes an ext4 of 16 MiB in a file, or skips the test where that
// cannot be.
func mountExt4(t *testing.T) string {
	t.Helper()
	mkfs, err := exec.LookPath("mkfs.ext4")
	if err != nil || os.Getuid() != 0 {
		t.Skipf("an ext4 cannot be made and mounted: user %d, %v", os.Getuid(), err)
	}
	image, dir := filepath.Join(t.TempDir(), "image"), t.TempDir()
	must(t, os.WriteFile(image, nil, 0o600))
	must(t, os.Truncate(image, 16<<20))
	if out, err := exec.Command(mkfs, "-q", "-m", "0", image).CombinedOutput(); err != nil {
		t.Fatalf("mkfs.ext4: %v: %s", err, out)
	}
	if out, err := exec.Command("mount", "-o", "loop", image, dir).CombinedOutput(); err != nil {
		t.Skipf("an ext4 cannot be mounted: %v: %s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", dir).CombinedOutput(); err != nil {
			t.Errorf("umount: %v: %s", err, out)
		}
	})
	return dir
}

// Allocate says at once that there is no space, and keeps none of it.
func TestOSAllocateFull(t *testing.T) {
	for name, make := range map[string]func(*testing.T) string{
		"tmpfs": func(t *testing.T) string { return mount(t, 0, "size=16m") },
		"ext4":  mountExt4,
	} {
		t.Run(name, func(t *testing.T) { allocateFull(t, make(t)) })
	}
}

func allocateFull(t *testing.T, dir string) {
	fsys, err := vfs.OS(dir)
	must(t, err)
	f := create(t, fsys, "a")
	defer f.Close()
	must(t, f.Allocate(1<<20))
	before, err := fsys.Free()
	must(t, err)
	if before < 1<<20 || before > 15<<20 {
		t.Errorf("Free = %d of 16 MiB, with 1 MiB allocated", before)
	}
	err = f.Allocate(32 << 20)
	if path := filepath.Join(dir, "a"); !vfs.NoSpace(err) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), " bytes are free") {
		t.Errorf("error %v: want one of no space for %s, from before it was taken", err, path)
	}
	wantSize(t, f, 1<<20)
	if after, err := fsys.Free(); after < before-64<<10 || err != nil { // ext4 may keep a block of its own
		t.Errorf("Free = %d, %v after a failed Allocate, %d before", after, err, before)
	}
	if _, err := f.WriteAt(make([]byte, 32<<20), 0); !vfs.NoSpace(err) {
		t.Errorf("WriteAt: %v, want no space", err)
	}
}

// What Allocate reserved is there when the file system is full.
func TestOSAllocateReserves(t *testing.T) {
	fsys, err := vfs.OS(mount(t, 0, "size=1m"))
	must(t, err)
	a, b := create(t, fsys, "a"), create(t, fsys, "b")
	defer a.Close()
	defer b.Close()
	must(t, a.Allocate(512<<10))
	if _, err := b.WriteAt(make([]byte, 1<<20), 0); !vfs.NoSpace(err) {
		t.Fatalf("error %v, want no space", err)
	}
	if n, err := a.WriteAt(make([]byte, 512<<10), 0); err != nil {
		t.Errorf("WriteAt = %d, %v inside of what was allocated", n, err)
	}
}
