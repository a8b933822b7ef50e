package vfs_test

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/firncache/firn/internal/vfs/vfstest"

	"github.com/firncache/firn/internal/vfs"
)

// A kill leaves the memory as it is, and a power cut none.
func TestCrashCloneMemory(t *testing.T) {
	t.Parallel()
	mem := vfstest.NewMem()
	a, b := newMemory(t, mem, 10_001), newMemory(t, mem, 8)
	copy(a.Bytes(), pattern(10_001))
	copy(b.Bytes(), "of b")

	killed := mem.CrashClone(nil, vfstest.Kill)
	clear(a.Bytes())
	inA, inB := openMemory(t, killed, a.ID()), openMemory(t, killed, b.ID())
	if !bytes.Equal(inA.Bytes(), pattern(10_001)) || string(inB.Bytes()) != "of b\x00\x00\x00\x00" {
		t.Error("the killed process's memory is not what it was")
	}
	copy(inB.Bytes(), "another")
	must(t, inA.Remove())
	if string(b.Bytes()) != "of b\x00\x00\x00\x00" {
		t.Errorf("the next process writes to the killed one's memory: %q", b.Bytes())
	}
	must(t, a.Close())
	must(t, openMemory(t, mem, a.ID()).Close())
	if !bytes.Equal(inB.Bytes(), []byte("another\x00")) {
		t.Errorf("%q", inB.Bytes())
	}

	off := mem.CrashClone(rand.New(rand.NewPCG(1, 1)), vfstest.PowerCut)
	wantNoMemory(t, off, a.ID())
	wantNoMemory(t, off, b.ID())
	newMemory(t, off, 10)
	wantNoMemory(t, vfstest.NewMem(), b.ID())
}

// A system without memory has none after a crash either, and what it keeps otherwise.
func TestMemWithoutMemory(t *testing.T) {
	t.Parallel()
	mem := vfstest.NewMem()
	m := newMemory(t, mem, 10)
	must(t, m.Close())
	mem.SetMemory(false)
	for _, fsys := range []*vfstest.Mem{mem, mem.CrashClone(nil, vfstest.Kill), mem.CrashClone(rand.New(rand.NewPCG(1, 1)), vfstest.PowerCut)} {
		_, err := fsys.NewMemory(10)
		wantErr(t, err, vfs.ErrNoKeptMemory)
		_, err = fsys.OpenMemory(m.ID())
		wantErr(t, err, vfs.ErrNoKeptMemory)
		wantNoMemory(t, fsys, m.ID())
	}
	mem.SetMemory(true)
	must(t, openMemory(t, mem, m.ID()).Close())
}

// noKeeper is a file system that keeps no memory.
type noKeeper struct{ vfs.FS }

func TestFaultyWithoutKeeper(t *testing.T) {
	t.Parallel()
	if _, ok := vfs.FS(noKeeper{vfstest.NewMem()}).(vfs.MemoryKeeper); ok {
		t.Error("a file system without memory keeps some")
	}
	f := vfstest.NewFaulty(noKeeper{vfstest.NewMem()})
	_, err := f.NewMemory(10)
	wantErr(t, err, vfs.ErrNoKeptMemory)
	_, err = f.OpenMemory(vfs.MemoryID{Handle: 1, Key: 1})
	wantErr(t, err, vfs.ErrNoKeptMemory)
	wantNoMemory(t, f, vfs.MemoryID{Handle: 1, Key: 1})
}

// The clone of a process that stores all the time is what it is at one instant: each
// store with all that were before it.
func TestCrashCloneMemoryAtInstant(t *testing.T) {
	t.Parallel()
	const size = 1 << 16
	mem := vfstest.NewMem()
	m := newMemory(t, mem, size)
	b := m.Bytes()
	first, last := b[:8], b[size-8:]
	defer storing(func(n uint64) {
		binary.LittleEndian.PutUint64(first, n)
		binary.LittleEndian.PutUint64(last, n)
	})()
	for range 100 {
		kept := openMemory(t, mem.CrashClone(nil, vfstest.Kill), m.ID())
		b := kept.Bytes()
		first, last := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[size-8:])
		if first != last && first != last+1 {
			t.Fatalf("the first word is %d, stored before the last, which is %d", first, last)
		}
		must(t, kept.Close())
	}
}

// The files of a clone are of the same instant as its memory.
func TestCrashCloneMemoryWithFiles(t *testing.T) {
	t.Parallel()
	mem := vfstest.NewMem()
	m := newMemory(t, mem, 1<<18) // it takes long to copy
	f := create(t, mem, "a")
	defer f.Close()
	stored := m.Bytes()
	var buf [8]byte
	write := func(n uint64) {
		binary.LittleEndian.PutUint64(buf[:], n)
		if _, err := f.WriteAt(buf[:], 0); err != nil {
			t.Error(err)
		}
		binary.LittleEndian.PutUint64(stored, n)
	}
	write(0)
	defer storing(write)()
	for range 100 {
		killed := mem.CrashClone(nil, vfstest.Kill)
		kept := openMemory(t, killed, m.ID())
		file, err := killed.Bytes("a")
		must(t, err)
		written, stored := binary.LittleEndian.Uint64(file), binary.LittleEndian.Uint64(kept.Bytes())
		if written != stored && written != stored+1 {
			t.Fatalf("the memory is at %d, the file, which is written before, at %d", stored, written)
		}
		must(t, kept.Close())
	}
}

// storing calls store with one number after the other. What it stores plainly races
// with CrashClone on purpose, as the stores of a memory's owner do.
func storing(store func(n uint64)) (stop func()) {
	var stopped atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() {
		for n := uint64(1); !stopped.Load(); n++ {
			store(n)
		}
	})
	return func() {
		stopped.Store(true)
		wg.Wait()
	}
}

// That memory is made and removed are boundaries of a scenario.
func TestBoundariesOfMemory(t *testing.T) {
	t.Parallel()
	mem := vfstest.NewMem()
	var id vfs.MemoryID
	var found []bool
	vfstest.EachBoundary(mem, func(fsys vfs.FS) {
		keeper, _ := fsys.(vfs.MemoryKeeper)
		m, err := keeper.NewMemory(8)
		must(t, err)
		id = m.ID()
		must(t, fsys.SyncDir())
		must(t, m.Remove())
		must(t, m.Close())
	}, func(b vfstest.Boundary) {
		m, err := b.Crash(nil, vfstest.Kill).OpenMemory(id)
		found = append(found, err == nil)
		if err == nil {
			must(t, m.Close())
		}
	})
	if want := []bool{false, true, true, false}; !slices.Equal(found, want) {
		t.Errorf("memory is found at the boundaries %v, want %v", found, want)
	}
}
