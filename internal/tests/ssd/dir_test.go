package ssd

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/tests/harness"
)

func openIn(dir string) (*firn.Cache, error) {
	return firn.Open(firn.Options{RAMBytes: 2 << 20, SSD: firn.SSDOptions{Dir: dir, Bytes: 4 << 20}})
}

// Row 18: without its file, the lock is still there.
func TestFault18LockRemoved(t *testing.T) {
	dir := t.TempDir()
	c, err := openIn(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := os.Remove(filepath.Join(dir, "lock")); err != nil {
		t.Skipf("a file that is locked cannot be removed: %v", err)
	}
	if c, err := openIn(dir); !errors.Is(err, firn.ErrLocked) {
		if err == nil {
			_ = c.Close()
		}
		t.Errorf("a second Open: %v, want ErrLocked", err)
	}
}

// A cache whose directory was moved away, and made again by another cache, says at Close that
// nothing was saved, and does not touch the other's files.
func TestDirectoryReplacedWhileOpen(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	moved, err := openIn(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer moved.Close()
	if err := os.Rename(dir, dir+".moved"); err != nil {
		t.Skipf("a directory in use cannot be moved: %v", err)
	}
	other, err := openIn(dir)
	if err != nil {
		t.Fatal(err)
	}
	key := []byte("key")
	harness.Set(t, moved, key, []byte("moved"))
	harness.Set(t, other, key, []byte("other"))
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	var left *firn.ShutdownError
	if err := moved.Close(); !errors.As(err, &left) || left.Entries != 1 || !strings.Contains(err.Error(), "no longer in the directory") {
		t.Errorf("Close of the cache whose files were moved: %v, want an error that says so, of one entry", err)
	}
	again, err := openIn(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if v, ok := again.Get(nil, key); string(v) != "other" {
		t.Errorf("in the directory another cache finds %q, %v, want what was closed there", v, ok)
	}
}

// Files that were removed while the cache was open are missed at Close.
func TestFilesRemovedWhileOpen(t *testing.T) {
	dir := t.TempDir()
	c, err := openIn(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	harness.Set(t, c, []byte("key"), []byte("value"))
	for _, name := range []string{"superblock", "log", "lock"} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Skipf("a file in use cannot be removed: %v", err)
		}
	}
	if err := c.Close(); !errors.As(err, new(*firn.ShutdownError)) {
		t.Errorf("Close: %v, want a ShutdownError", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "snapshot")); err == nil {
		t.Error("it left a snapshot without its log")
	}
}

// Open tells what is wrong with SSD.Dir, and where.
func TestBadDirectory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	users := t.TempDir()
	if err := os.WriteFile(filepath.Join(users, "log"), []byte("Dear diary"), 0o600); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string][]string{
		file:  {"SSD.Dir", file, "is a file, not a directory"},
		users: {"SSD.Dir", users, "log"},
	} {
		_, err := openIn(dir)
		for _, part := range want {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("%v: want an error that says %q", err, part)
			}
		}
		t.Log(err)
	}
	if b, err := os.ReadFile(filepath.Join(users, "log")); string(b) != "Dear diary" {
		t.Errorf("the user's file holds %q, %v", b, err)
	}
}
