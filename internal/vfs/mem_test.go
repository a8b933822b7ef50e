package vfs_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/firncache/firn/internal/vfs/vfstest"

	"pgregory.net/rapid"

	"github.com/firncache/firn/internal/vfs"
)

// model is the plainest file system: bytes by name.
type model map[string][]byte

func (m model) write(name string, p []byte, off int) {
	m.truncate(name, max(len(m[name]), off+len(p)))
	copy(m[name][off:], p)
}

func (m model) truncate(name string, size int) {
	grown := make([]byte, size)
	copy(grown, m[name])
	m[name] = grown
}

func (m model) clone() model {
	c := model{}
	for name, b := range m {
		c[name] = bytes.Clone(b)
	}
	return c
}

// world is a Mem with the models of what it shows and of what is synced.
type world struct {
	mem     *vfstest.Mem
	now     model
	synced  model           // contents by name as of the last whole sync
	touched map[string]bool // names that changed since
}

var (
	someName = rapid.SampledFrom([]string{"a", "b", "c"})
	someSize = rapid.OneOf(rapid.IntRange(0, 600), rapid.IntRange(0, 20_000), rapid.SampledFrom([]int{512, 4096, 8192, 12288}))
)

func (w *world) open(t *rapid.T, name string) vfs.File {
	f, err := w.mem.Open(name, vfs.OpenOptions{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	if w.now[name] == nil {
		w.now[name] = []byte{}
	}
	w.touched[name] = true
	return f
}

func (w *world) check(t *rapid.T, what string, mem *vfstest.Mem, want model) {
	t.Helper()
	got := mem.Dump()
	if names := slices.Sorted(maps.Keys(got)); !slices.Equal(names, slices.Sorted(maps.Keys(want))) {
		t.Fatalf("%s: files %q, want %q", what, names, slices.Sorted(maps.Keys(want)))
	}
	for name, b := range want {
		if !bytes.Equal(got[name], b) {
			t.Fatalf("%s: file %s differs: %s", what, name, difference(got[name], b))
		}
	}
	if err := mem.CheckSpace(); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

func difference(got, want []byte) string {
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return fmt.Sprintf("byte %d is %d, want %d", i, got[i], want[i])
		}
	}
	return fmt.Sprintf("%d bytes, want %d", len(got), len(want))
}

// Mem shows what a plain model shows; killed it shows the same; after a power
// cut at least what no operation touched since the last sync.
func TestMemAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &world{mem: vfstest.NewMem(), now: model{}, synced: model{}, touched: map[string]bool{}}
		t.Repeat(map[string]func(*rapid.T){
			"write":    w.write,
			"truncate": func(t *rapid.T) { w.resize(t, vfs.File.Truncate) },
			"allocate": func(t *rapid.T) { w.resize(t, vfs.File.Allocate) },
			"read":     w.read,
			"remove":   w.remove,
			"rename":   w.rename,
			"sync":     w.sync,
			"crash":    w.crash,
			"":         func(t *rapid.T) { w.check(t, "now", w.mem, w.now) },
		})
	})
}

func (w *world) write(t *rapid.T) {
	name, off, n := someName.Draw(t, "name"), someSize.Draw(t, "off"), someSize.Draw(t, "len")
	f := w.open(t, name)
	defer f.Close()
	p := bytes.Repeat([]byte{rapid.Byte().Draw(t, "fill")}, n)
	if m, err := f.WriteAt(p, int64(off)); m != n || err != nil {
		t.Fatalf("WriteAt = %d, %v", m, err)
	}
	if n > 0 {
		w.now.write(name, p, off)
	}
	for i := range p {
		p[i]++ // the file has its own bytes
	}
}

func (w *world) resize(t *rapid.T, resize func(vfs.File, int64) error) {
	name, size := someName.Draw(t, "name"), someSize.Draw(t, "size")
	f := w.open(t, name)
	defer f.Close()
	if err := resize(f, int64(size)); err != nil {
		t.Fatal(err)
	}
	w.now.truncate(name, size)
}

func (w *world) read(t *rapid.T) {
	name, off, n := someName.Draw(t, "name"), someSize.Draw(t, "off"), someSize.Draw(t, "len")
	want, exists := w.now[name]
	f, err := w.mem.Open(name, vfs.OpenOptions{ReadOnly: true})
	if !exists {
		if !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("Open of no file: %v", err)
		}
		return
	}
	defer f.Close()
	want = want[min(off, len(want)):]
	got := make([]byte, n)
	m, err := f.ReadAt(got, int64(off))
	if short := n > len(want); m != min(n, len(want)) || (err == io.EOF) != short || err != nil && !short {
		t.Fatalf("ReadAt(%d at %d) = %d, %v, the file has %d there", n, off, m, err, len(want))
	}
	if !bytes.Equal(got[:m], want[:m]) {
		t.Fatalf("ReadAt(%d at %d): %s", n, off, difference(got[:m], want[:m]))
	}
}

func (w *world) remove(t *rapid.T) {
	name := someName.Draw(t, "name")
	err := w.mem.Remove(name)
	if _, exists := w.now[name]; exists != (err == nil) {
		t.Fatalf("Remove(%s): %v, exists %v", name, err, exists)
	}
	delete(w.now, name)
	w.touched[name] = true
}

func (w *world) rename(t *rapid.T) {
	from, to := someName.Draw(t, "from"), someName.Draw(t, "to")
	err := w.mem.Rename(from, to)
	b, exists := w.now[from]
	if exists != (err == nil) {
		t.Fatalf("Rename(%s, %s): %v, exists %v", from, to, err, exists)
	}
	if exists {
		delete(w.now, from)
		w.now[to] = b
	}
	w.touched[from], w.touched[to] = true, true
}

// sync makes everything survive.
func (w *world) sync(t *rapid.T) {
	for name := range w.now {
		f, err := w.mem.Open(name, vfs.OpenOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(f.Sync(), f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.mem.SyncDir(); err != nil {
		t.Fatal(err)
	}
	w.synced, w.touched = w.now.clone(), map[string]bool{}
}

// crash looks at clones, and may go on with one.
func (w *world) crash(t *rapid.T) {
	seed := rapid.Uint64().Draw(t, "seed")
	rng := func() *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }
	killed := w.mem.CrashClone(nil, vfstest.Kill)
	w.check(t, "killed", killed, w.now)

	cut := w.mem.CrashClone(rng(), vfstest.PowerCut)
	found := model(cut.Dump())
	w.check(t, "the same power cut", w.mem.CrashClone(rng(), vfstest.PowerCut), found)
	w.check(t, "a power cut of the killed", killed.CrashClone(rng(), vfstest.PowerCut), found)
	w.check(t, "a second power cut", cut.CrashClone(rng(), vfstest.PowerCut), found)
	for name, b := range w.synced {
		if !w.touched[name] && !bytes.Equal(found[name], b) {
			t.Fatalf("power cut: synced file %s: %s", name, difference(found[name], b))
		}
	}
	for name := range found {
		if _, old := w.synced[name]; !old && !w.touched[name] {
			t.Fatalf("power cut: file %s was never made", name)
		}
	}
	switch rapid.IntRange(0, 2).Draw(t, "go on with") {
	case 1:
		w.mem = killed
	case 2:
		w.mem, w.now, w.synced, w.touched = cut, found, found.clone(), map[string]bool{}
	}
}

func TestMemQuota(t *testing.T) {
	mem := vfstest.NewMem()
	mem.SetQuota(10 * 4096)
	wantFree := func(blocks int64) {
		t.Helper()
		if n, err := mem.Free(); n != blocks*4096 || err != nil {
			t.Errorf("Free = %d, %v, want %d blocks", n, err, blocks)
		}
	}
	a, b := create(t, mem, "a"), create(t, mem, "b")
	must(t, a.Allocate(6*4096))
	wantFree(4)
	must(t, b.Truncate(1<<40)) // occupies nothing
	wantFree(4)
	err := a.Allocate(11 * 4096)
	if !vfs.NoSpace(err) {
		t.Errorf("Allocate over the quota: %v", err)
	}
	wantSize(t, a, 6*4096)
	wantFree(4)

	n, err := b.WriteAt(make([]byte, 8*4096), 100)
	if n != 4*4096-100 || !vfs.NoSpace(err) {
		t.Errorf("WriteAt = %d, %v, want %d and no space", n, err, 4*4096-100)
	}
	wantFree(0)
	if n, err := a.WriteAt(make([]byte, 6*4096), 0); n != 6*4096 || err != nil {
		t.Errorf("WriteAt = %d, %v inside of what was allocated", n, err)
	}
	write(t, b, 0, "again") // the block is there
	must(t, b.Truncate(4096))
	wantFree(3)
	must(t, mem.CheckSpace())
	must(t, b.Allocate(4*4096)) // one of them is there
	wantFree(0)
	must(t, b.Truncate(4096))
	wantFree(3)

	must(t, mem.Remove("a"))
	wantFree(3) // while it is open
	must(t, a.Close())
	wantFree(9)
	must(t, mem.CheckSpace())
	mem.SetQuota(4096)
	wantFree(0)
	mem.SetQuota(0)
	if n, err := mem.Free(); n < 1<<40 || err != nil {
		t.Errorf("Free = %d, %v without a quota", n, err)
	}
	must(t, b.Close())
}

func TestMemDirectMisuse(t *testing.T) {
	mem := vfstest.NewMem()
	f, err := mem.Open("a", vfs.OpenOptions{Create: true, Direct: true})
	must(t, err)
	if f.Align() != 512 {
		t.Fatalf("Align = %d, want 512", f.Align())
	}
	p := vfs.Aligned(1024+8, 512)
	for name, misuse := range map[string]func(){
		"offset of a write":  func() { _, _ = f.WriteAt(p[:512], 8) },
		"length of a write":  func() { _, _ = f.WriteAt(p[:520], 0) },
		"address of a write": func() { _, _ = f.WriteAt(p[8:520], 0) },
		"offset of a read":   func() { _, _ = f.ReadAt(p[:512], 8) },
		"length of a read":   func() { _, _ = f.ReadAt(p[:520], 0) },
		"address of a read":  func() { _, _ = f.ReadAt(p[8:520], 0) },
	} {
		if !panics(misuse) {
			t.Errorf("%s: misaligned, and no panic", name)
		}
	}
	wantSize(t, f, 0)
	mem.SetDirect(4096)
	g, err := mem.Open("a", vfs.OpenOptions{Direct: true})
	must(t, err)
	if !panics(func() { _, _ = g.WriteAt(p[:512], 0) }) {
		t.Error("512 bytes, where 4096 are wanted, and no panic")
	}
	mem.SetDirect(0)
	_, err = mem.Open("a", vfs.OpenOptions{Direct: true})
	wantErr(t, err, vfs.ErrNoDirect)
}

func panics(f func()) (panicked bool) {
	defer func() { panicked = recover() != nil }()
	f()
	return false
}

func TestMemBytes(t *testing.T) {
	mem := vfstest.NewMem()
	_, err := mem.Bytes("a")
	wantErr(t, err, fs.ErrNotExist)
	wantErr(t, mem.Flip("a", 0), fs.ErrNotExist)
	must(t, mem.SetBytes("a", []byte("hello")))
	f := create(t, mem, "a")
	must(t, mem.Flip("a", 8*4))
	if got := contents(t, f); got != "helln" {
		t.Errorf("flipped: %q, want helln", got)
	}
	wantErr(t, mem.Flip("a", 8*5), fs.ErrInvalid)
	wantErr(t, mem.Flip("a", -1), fs.ErrInvalid)
	must(t, mem.SetBytes("a", []byte("short")[:2]))
	if b, err := mem.Bytes("a"); string(b) != "sh" || err != nil {
		t.Errorf("Bytes = %q, %v", b, err)
	}
	for seed := range uint64(20) { // what tests put there is synced
		cut := mem.CrashClone(rand.New(rand.NewPCG(seed, 0)), vfstest.PowerCut)
		if b, err := cut.Bytes("a"); string(b) != "sh" || err != nil {
			t.Fatalf("after a power cut: %q, %v", b, err)
		}
	}
	dump := mem.Dump()
	write(t, f, 0, "other")
	must(t, create(t, mem, "b").Close())
	must(t, mem.Restore(dump))
	wantList(t, mem, "a")
	if b, err := mem.Bytes("a"); string(b) != "sh" || err != nil {
		t.Errorf("restored: %q, %v", b, err)
	}
	if got := contents(t, f); got != "other" {
		t.Errorf("the file that was open reads %q, want other", got)
	}
	must(t, f.Close())
	must(t, mem.CheckSpace())
}

func TestMemLocksOfClone(t *testing.T) {
	mem := vfstest.NewMem()
	lock, err := mem.Lock("LOCK")
	must(t, err)
	clone := mem.CrashClone(nil, vfstest.Kill)
	other, err := clone.Lock("LOCK")
	must(t, err)
	must(t, lock.Close())
	_, err = clone.Lock("LOCK")
	wantErr(t, err, vfs.ErrLocked)
	must(t, other.Close())
}

// A clone and its origin share blocks, and no changes.
func TestMemCloneIsApart(t *testing.T) {
	mem := vfstest.NewMem()
	f := create(t, mem, "a")
	for _, s := range []string{"1", "12", "123"} { // versions of one block
		write(t, f, 0, s)
	}
	clone := mem.CrashClone(nil, vfstest.Kill)
	g := create(t, clone, "a")
	write(t, f, 3, "original")
	write(t, g, 3, "clone")
	if a, b := contents(t, f), contents(t, g); a != "123original" || b != "123clone" {
		t.Errorf("the original reads %q, the clone %q", a, b)
	}
}
