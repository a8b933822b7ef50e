package vfs_test

import (
	"bytes"
	"errors"
	"io/fs"
	"math"
	"os"
	"testing"

	"github.com/firncache/firn/internal/vfs"
)

// Not parallel: other tests would have the memory attached for a moment, or make a
// directory with the same inode.
func TestMemoryConformance(t *testing.T) {
	tests := map[string]func(t *testing.T, keeper vfs.MemoryKeeper){
		"new":      conformNewMemory,
		"sizes":    conformMemorySizes,
		"kept":     conformMemoryKept,
		"open":     conformMemoryOpen,
		"others":   conformMemoryOfOthers,
		"removed":  conformMemoryRemoved,
		"replaced": conformMemoryReplaced,
	}
	for system, make := range systems(t) {
		for name, test := range tests {
			t.Run(system+"/"+name, func(t *testing.T) {
				test(t, keeperOf(t, make(t)))
			})
		}
	}
}

// keeperOf is a file system that has memory, or skips the test where the system has none.
func keeperOf(t testing.TB, fsys vfs.FS) vfs.MemoryKeeper {
	t.Helper()
	keeper, ok := fsys.(vfs.MemoryKeeper)
	if !ok {
		t.Fatalf("a %T keeps no memory", fsys)
	}
	m, err := keeper.NewMemory(1)
	if errors.Is(err, vfs.ErrNoKeptMemory) {
		t.Skipf("this system has no memory that outlives a process, or it is forbidden here: %v", err)
	}
	must(t, err)
	must(t, m.Remove())
	must(t, m.Close())
	return keeper
}

// newMemory makes memory that is gone after the test.
func newMemory(t testing.TB, keeper vfs.MemoryKeeper, size int64) vfs.Memory {
	t.Helper()
	m, err := keeper.NewMemory(size)
	must(t, err)
	t.Cleanup(func() {
		must(t, m.Remove())
		must(t, m.Close())
	})
	return m
}

// openMemory opens memory until the end of the test.
func openMemory(t testing.TB, keeper vfs.MemoryKeeper, id vfs.MemoryID) vfs.Memory {
	t.Helper()
	m, err := keeper.OpenMemory(id)
	must(t, err)
	t.Cleanup(func() { must(t, m.Close()) })
	if m.ID() != id {
		t.Errorf("ID %v, want %v", m.ID(), id)
	}
	return m
}

func wantNoMemory(t testing.TB, keeper vfs.MemoryKeeper, id vfs.MemoryID) {
	t.Helper()
	m, err := keeper.OpenMemory(id)
	if err == nil {
		t.Errorf("memory %v is found", id)
		must(t, m.Close())
		return
	}
	wantErr(t, err, fs.ErrNotExist)
}

// pattern is bytes that tell their place.
func pattern(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i ^ i>>8 ^ i>>16 ^ 0x55)
	}
	return b
}

func conformNewMemory(t *testing.T, keeper vfs.MemoryKeeper) {
	page := os.Getpagesize()
	for _, size := range []int{1, 100, page, page + 1, 3<<20 + 5} {
		m := newMemory(t, keeper, int64(size))
		b := m.Bytes()
		if len(b) != size || cap(b) != size || !bytes.Equal(b, make([]byte, size)) {
			t.Errorf("%d bytes: %d of capacity %d, zero %v", size, len(b), cap(b), bytes.Equal(b, make([]byte, len(b))))
		}
		if off := vfs.Address(b) % uintptr(page); off != 0 {
			t.Errorf("%d bytes begin %d after a page's begin", size, off)
		}
		if m.ID().Key == 0 {
			t.Errorf("ID %v has no key", m.ID())
		}
		copy(b, pattern(size))
		must(t, m.Close())
	}
}

func conformMemorySizes(t *testing.T, keeper vfs.MemoryKeeper) {
	for size, want := range map[int64]error{
		0: fs.ErrInvalid, -1: fs.ErrInvalid, math.MinInt64: fs.ErrInvalid, math.MaxInt64: vfs.ErrNoKeptMemory, math.MaxInt64 - 8191: vfs.ErrNoKeptMemory,
	} {
		m, err := keeper.NewMemory(size)
		if m != nil {
			t.Errorf("%d bytes are made", size)
		}
		wantErr(t, err, want)
	}
}

func conformMemoryKept(t *testing.T, keeper vfs.MemoryKeeper) {
	const size = 100_001
	m := newMemory(t, keeper, size)
	copy(m.Bytes(), pattern(size))
	for range 3 {
		must(t, m.Close())
		must(t, m.Close())
		if m.Bytes() != nil {
			t.Error("closed memory has bytes")
		}
		m = openMemory(t, keeper, m.ID())
		if !bytes.Equal(m.Bytes(), pattern(size)) {
			t.Fatalf("other bytes than were written, or %d for %d", len(m.Bytes()), size)
		}
	}
}

func conformMemoryOpen(t *testing.T, keeper vfs.MemoryKeeper) {
	m := newMemory(t, keeper, 10)
	_, err := keeper.OpenMemory(m.ID())
	wantErr(t, err, vfs.ErrLocked)
	must(t, m.Close())
	again := openMemory(t, keeper, m.ID())
	_, err = keeper.OpenMemory(m.ID())
	wantErr(t, err, vfs.ErrLocked)
	copy(again.Bytes(), "still ours")
}

func conformMemoryOfOthers(t *testing.T, keeper vfs.MemoryKeeper) {
	m := newMemory(t, keeper, 10)
	copy(m.Bytes(), "0123456789")
	must(t, m.Close())
	id := m.ID()
	for _, other := range []vfs.MemoryID{
		{}, {Handle: id.Handle}, {Handle: id.Handle, Key: id.Key + 1}, {Handle: id.Handle + 1, Key: id.Key},
		{Handle: id.Handle | 1<<32, Key: id.Key}, {Handle: math.MaxUint64, Key: id.Key},
	} {
		wantNoMemory(t, keeper, other)
	}
	if again := openMemory(t, keeper, id); string(again.Bytes()) != "0123456789" {
		t.Errorf("memory holds %q", again.Bytes())
	}
}

func conformMemoryRemoved(t *testing.T, keeper vfs.MemoryKeeper) {
	open := newMemory(t, keeper, 10)
	must(t, open.Remove())
	must(t, open.Remove())
	wantNoMemory(t, keeper, open.ID())
	copy(open.Bytes(), "0123456789") // until it is closed
	must(t, open.Close())
	wantNoMemory(t, keeper, open.ID())
	must(t, open.Remove())

	closed := newMemory(t, keeper, 10)
	must(t, closed.Close())
	again := openMemory(t, keeper, closed.ID())
	must(t, closed.Remove()) // while another has it
	wantNoMemory(t, keeper, closed.ID())
	copy(again.Bytes(), "0123456789")
	must(t, again.Close())
	wantNoMemory(t, keeper, closed.ID())
}

// A directory does not collect memory that nobody knows of.
func conformMemoryReplaced(t *testing.T, keeper vfs.MemoryKeeper) {
	closed, open := newMemory(t, keeper, 10), newMemory(t, keeper, 10)
	must(t, closed.Close())
	copy(open.Bytes(), "0123456789")
	third := newMemory(t, keeper, 10)
	wantNoMemory(t, keeper, closed.ID())
	must(t, open.Close())
	if again := openMemory(t, keeper, open.ID()); string(again.Bytes()) != "0123456789" {
		t.Errorf("memory holds %q, after other memory was made", again.Bytes())
	}
	if third.ID() == open.ID() || third.ID() == closed.ID() {
		t.Errorf("ID %v is not new", third.ID())
	}
}
