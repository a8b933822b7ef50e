package vfs

import "testing"

func TestInterpose(t *testing.T) {
	var stood *Faulty
	Interpose(func(fs FS) FS {
		stood = NewFaulty(fs)
		return stood
	})
	defer Interpose(nil)
	fs, err := OS(t.TempDir())
	if err != nil || stood == nil || fs != FS(stood) {
		t.Fatalf("%v, %v: want what was put before the directory", fs, err)
	}
	Interpose(nil)
	if fs, err = OS(t.TempDir()); err != nil || fs == FS(stood) {
		t.Fatalf("%v, %v: want the directory itself", fs, err)
	}
}
