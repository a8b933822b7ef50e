package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// names lists a directory.
func names(t *testing.T, dir string) (found []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		found = append(found, e.Name())
	}
	return found
}

func TestTemporaryDirectory(t *testing.T) {
	t.Parallel()
	temps := temporaries{parent: t.TempDir()}
	one, err := temps.make("firn-test-")
	if err != nil {
		t.Fatal(err)
	}
	two, err := temps.make("firn-test-")
	if err != nil || one == two || len(names(t, one)) > 0 {
		t.Fatal(one, two, err)
	}
	writeFile(t, filepath.Join(one, "below", "file"), []byte("x"))
	if err := temps.remove(one); err != nil {
		t.Error(err)
	}
	if left := names(t, temps.parent); len(left) != 1 || left[0] != filepath.Base(filepath.Dir(two)) {
		t.Errorf("%q are left", left)
	}
	if err := temps.remove(one); err != nil {
		t.Error("again:", err)
	}
	temps.removeAll()
	if left := names(t, temps.parent); len(left) > 0 {
		t.Errorf("%q are left", left)
	}
}

// A directory goes when its process was killed; not before, and not what is
// another's or new.
func TestStaleDirectories(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	temps := temporaries{parent: parent}
	held, err := temps.make("firn-test-held-")
	if err != nil {
		t.Fatal(err)
	}
	defer temps.removeAll()
	writeFile(t, filepath.Join(parent, "firn-test-killed", ownerFile), nil)
	writeFile(t, filepath.Join(parent, "firn-test-killed", "files", "log"), []byte("much"))
	writeFile(t, filepath.Join(parent, "firn-test-foreign", "files", "log"), nil)
	writeFile(t, filepath.Join(parent, "firn-other", ownerFile), nil)
	old := time.Now().Add(-2 * staleAge)
	for _, name := range names(t, parent) {
		if err := os.Chtimes(filepath.Join(parent, name), old, old); err != nil {
			t.Fatal(err)
		}
	}
	writeFile(t, filepath.Join(parent, "firn-test-new", ownerFile), nil)
	want := slices.DeleteFunc(names(t, parent), func(name string) bool { return name == "firn-test-killed" })
	removeStale(parent, "firn-test-")
	if left := names(t, parent); !slices.Equal(left, want) {
		t.Errorf("%q are left, want %q", left, want)
	}
	if len(names(t, filepath.Dir(held))) != 2 {
		t.Error("the directory in use was touched")
	}
}
