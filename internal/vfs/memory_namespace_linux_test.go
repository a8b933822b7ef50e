package vfs_test

import (
	"errors"
	"os"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/firncache/firn/internal/vfs"
)

// aloneEnv says that this process has System V shared memory of its own.
const aloneEnv = "FIRN_TEST_MEMORY_ALONE"

// leaveSharedMemory starts the test binary anew with System V shared memory of its own, if
// that is allowed. Other processes, the tests of other packages among them, look for lost
// memory, too: they have a segment attached for a moment, and remove it.
func leaveSharedMemory() {
	if os.Getenv(aloneEnv) != "" {
		return
	}
	binary, err := os.Executable()
	if err != nil {
		return
	}
	runtime.LockOSThread() // exec keeps the namespaces of the thread that calls it
	defer runtime.UnlockOSThread()
	if unix.Unshare(unix.CLONE_NEWIPC) == nil {
		_ = unix.Exec(binary, os.Args, append(os.Environ(), aloneEnv+"=1"))
	}
}

// inNamespace runs f as in another container: with System V shared memory of its own.
// The thread that has it ends with the goroutine. The test is skipped where a
// namespace cannot be made.
func inNamespace(t *testing.T, f func()) {
	t.Helper()
	done := make(chan struct{})
	var err error
	go func() {
		defer close(done)
		runtime.LockOSThread()
		if err = unix.Unshare(unix.CLONE_NEWIPC); err == nil {
			f()
		}
	}()
	<-done
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EINVAL) {
		t.Skipf("an IPC namespace cannot be made: %v", err)
	}
	must(t, err)
}

// Memory is not found in another container, and not harmed by what that does.
func TestMemoryOfOtherNamespace(t *testing.T) {
	t.Parallel()
	keeper, _ := osKeeper(t)
	m := newMemory(t, keeper, 10)
	copy(m.Bytes(), "0123456789")
	must(t, m.Close())
	inNamespace(t, func() {
		wantNoMemory(t, keeper, m.ID())
		if err := m.Remove(); err != nil {
			t.Error(err)
		}
		// Its handle may well be that of the memory outside.
		inside, err := keeper.NewMemory(10)
		if err != nil {
			t.Error(err)
			return
		}
		if err := errors.Join(inside.Close(), inside.Remove()); err != nil {
			t.Error(err)
		}
	})
	if again := openMemory(t, keeper, m.ID()); string(again.Bytes()) != "0123456789" {
		t.Errorf("memory holds %q", again.Bytes())
	}
}

// Where the system removes what no process has open, or allows no segments, there is
// no memory that outlives the process.
func TestMemoryForbidden(t *testing.T) {
	t.Parallel()
	keeper, _ := osKeeper(t)
	for setting, value := range map[string]string{"shm_rmid_forced": "1", "shmmni": "0", "shmmax": "8000", "shmall": "1"} {
		inNamespace(t, func() {
			if err := os.WriteFile("/proc/sys/kernel/"+setting, []byte(value), 0o644); err != nil {
				t.Logf("%s is not tested: %v", setting, err)
				return
			}
			m, err := keeper.NewMemory(10_000)
			if m != nil {
				t.Errorf("%s=%s: memory is made", setting, value)
				_, _ = m.Remove(), m.Close()
			}
			wantErr(t, err, vfs.ErrNoKeptMemory)
		})
	}
}
