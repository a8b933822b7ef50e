//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package vfs

import (
	"errors"
	"io"
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

// Who locks a directory twice gets to know that.
func TestLockDirTwice(t *testing.T) {
	t.Parallel()
	fsys, err := OS(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	lock := func() (io.Closer, error) { return fsys.(DirLocker).LockDir() }
	first, err := lock()
	if err != nil || first == nil {
		t.Skip("the file system has no locks of directories: ", err)
	}
	if _, err := lock(); !errors.Is(err, ErrLockedHere) || !errors.Is(err, ErrLocked) {
		t.Errorf("the second lock: %v, want ErrLockedHere", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	other, err := lockDir(string(fsys.(osFS))) // as another process does
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if _, err := lock(); !errors.Is(err, ErrLocked) || errors.Is(err, ErrLockedHere) {
		t.Errorf("locked elsewhere: %v, want ErrLocked alone", err)
	}
}
