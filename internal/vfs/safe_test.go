//go:build unix

package vfs_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/firncache/firn/internal/vfs"
)

// What stands in the directory in place of a file is not written through.
func TestOSNoLinks(t *testing.T) {
	dir, outside := t.TempDir(), filepath.Join(t.TempDir(), "precious")
	fsys, err := vfs.OS(dir)
	must(t, err)
	must(t, os.WriteFile(outside, []byte("precious"), 0o600))
	must(t, os.Symlink(outside, filepath.Join(dir, "link")))
	must(t, os.Symlink(filepath.Join(t.TempDir(), "new"), filepath.Join(dir, "dangling")))
	must(t, syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600))
	must(t, os.Mkdir(filepath.Join(dir, "directory"), 0o700))
	for _, name := range []string{"link", "dangling", "pipe", "directory"} {
		for _, opts := range []vfs.OpenOptions{{}, {ReadOnly: true}, {Create: true}, {Create: true, Direct: true}} {
			f, err := fsys.Open(name, opts)
			if err == nil {
				_ = f.Close()
			}
			if err == nil || !strings.Contains(err.Error(), filepath.Join(dir, name)) || !strings.Contains(err.Error(), "not a regular file") {
				t.Errorf("Open %s %+v: %v, want an error that names it as no regular file", name, opts, err)
			}
		}
		if _, err := fsys.Lock(name); err == nil {
			t.Errorf("Lock %s: no error", name)
		}
	}
	if b, err := os.ReadFile(outside); string(b) != "precious" {
		t.Errorf("the file outside holds %q, %v", b, err)
	}
}

// A directory where everybody can make files is refused, sticky or not, and the
// error says what helps; one where the group can is not, as a volume in Kubernetes
// is. A directory that is reached by a link is as good as itself.
func TestOSUnsafeDirectory(t *testing.T) {
	for mode, safe := range map[os.FileMode]bool{
		0o700: true, 0o755: true, 0o770: true, 0o775: true, 0o775 | os.ModeSetgid: true,
		0o777: false, 0o702: false, 0o777 | os.ModeSticky: false,
	} {
		dir := filepath.Join(t.TempDir(), "cache")
		must(t, os.Mkdir(dir, 0o700))
		must(t, os.Chmod(dir, mode))
		link := filepath.Join(t.TempDir(), "link")
		must(t, os.Symlink(dir, link))
		for _, path := range []string{dir, link} {
			_, err := vfs.OS(path)
			switch {
			case safe:
				must(t, err)
			case !errors.Is(err, fs.ErrPermission):
				t.Errorf("mode %v: %v, want ErrPermission", mode, err)
			default:
				for _, part := range []string{fmt.Sprintf("%04o", mode.Perm()), path, "subdirectory", "chmod o-w"} {
					if !strings.Contains(err.Error(), part) {
						t.Errorf("mode %v: %v, want an error that says %q", mode, err, part)
					}
				}
			}
		}
	}
}

func TestOSForeignOwner(t *testing.T) {
	dir := t.TempDir()
	fsys, err := vfs.OS(dir)
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, "a"), nil, 0o666))
	if err := os.Chown(filepath.Join(dir, "a"), 65534, -1); err != nil {
		t.Skipf("a file cannot be given to another user: %v", err)
	}
	_, err = fsys.Open("a", vfs.OpenOptions{})
	wantErr(t, err, fs.ErrPermission)
	must(t, os.Chown(dir, 65534, -1))
	_, err = vfs.OS(dir)
	wantErr(t, err, fs.ErrPermission)
	if err == nil || !strings.Contains(err.Error(), "65534") {
		t.Errorf("%v: want an error that names the owner", err)
	}
}

// The lock of a directory is its own: no removal of a file ends it.
func TestLockDir(t *testing.T) {
	dir := t.TempDir()
	fsys, err := vfs.OS(dir)
	must(t, err)
	lock, err := fsys.(vfs.DirLocker).LockDir()
	must(t, err)
	if lock == nil {
		t.Skip("this file system locks no directories")
	}
	other, err := vfs.OS(dir)
	must(t, err)
	_, err = other.(vfs.DirLocker).LockDir()
	wantErr(t, err, vfs.ErrLocked)
	must(t, lock.Close())
	lock, err = other.(vfs.DirLocker).LockDir()
	must(t, err)
	must(t, lock.Close())
}
