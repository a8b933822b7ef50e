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

// A Region that owns what was given has its addresses for itself, zero; the memory stays as it
// was for others, and goes with its owner.
func TestOwn(t *testing.T) {
	t.Parallel()
	b := shared(t, 1<<16)
	r := Over(b[1<<12:])
	if err := r.Own(); err != nil {
		t.Fatal(err)
	}
	for _, c := range r.Bytes(0, 1<<16-1<<12) {
		if c != 0 {
			t.Fatalf("a byte is %d, want 0", c)
		}
	}
	if b[0] != 7 {
		t.Error("bytes before the Region have changed")
	}
	*At[uint64](r, 0) = 5
}
