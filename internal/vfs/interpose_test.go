package vfs_test

import (
	"testing"

	"github.com/firncache/firn/internal/vfs"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

func TestInterpose(t *testing.T) {
	var stood *vfstest.Faulty
	vfs.Interpose(func(fs vfs.FS) vfs.FS {
		stood = vfstest.NewFaulty(fs)
		return stood
	})
	defer vfs.Interpose(nil)
	fs, err := vfs.OS(t.TempDir())
	if err != nil || stood == nil || fs != vfs.FS(stood) {
		t.Fatalf("%v, %v: want what was put before the directory", fs, err)
	}
	vfs.Interpose(nil)
	if fs, err = vfs.OS(t.TempDir()); err != nil || fs == vfs.FS(stood) {
		t.Fatalf("%v, %v: want the directory itself", fs, err)
	}
}
