package kill

import (
	"os"
	"runtime"
	"syscall"
	"testing"
)

// asNobody calls f as a user whom the rights of files concern: root is none.
func asNobody(t *testing.T, f func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		f()
		return
	}
	const nobody = 65534
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // for good: the thread ends with the goroutine
		err := syscall.Setfsuid(nobody)
		if err == nil {
			f()
		}
		done <- err
	}()
	if err := <-done; err != nil {
		t.Skipf("no other user can be taken here: %v", err)
	}
}
