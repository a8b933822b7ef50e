package offheap

import (
	"testing"

	"golang.org/x/sys/unix"
)

// shared is memory that other processes could have as well, n bytes of it, each 7.
func shared(t *testing.T, n int) []byte {
	t.Helper()
	b, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Munmap(b) })
	for i := range b {
		b[i] = 7
	}
	return b
}
