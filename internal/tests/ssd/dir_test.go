package ssd

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firncache/firn"
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
