//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package vfs

import (
	"syscall"
	"testing"
)

// A process that is being started has the descriptors of its parent until it
// executes its program. It does not keep what the parent has unlocked.
func TestLockDirInherited(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	lock, err := lockDir(dir)
	if err != nil || lock == nil {
		t.Skip("the file system has no locks of directories: ", err)
	}
	inherited, err := syscall.Dup(int(lock.(interface{ Fd() uintptr }).Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Close(inherited) }()
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := lockDir(dir)
	if err != nil {
		t.Fatalf("locked after Close: %v", err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}
