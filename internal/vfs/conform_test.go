package vfs_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"slices"
	"sync"
	"testing"

	"github.com/firncache/firn/internal/vfs/vfstest"

	"github.com/firncache/firn/internal/vfs"
)

// systems are the file systems that must behave alike.
func systems(t *testing.T) map[string]func(t *testing.T) vfs.FS {
	t.Helper()
	return map[string]func(t *testing.T) vfs.FS{
		"OS":              realFS,
		"Mem":             func(*testing.T) vfs.FS { return vfstest.NewMem() },
		"Faulty over Mem": func(*testing.T) vfs.FS { return vfstest.NewFaulty(vfstest.NewMem()) },
		"Faulty over OS":  func(t *testing.T) vfs.FS { return vfstest.NewFaulty(realFS(t)) },
	}
}

func realFS(t *testing.T) vfs.FS {
	fsys, err := vfs.OS(t.TempDir())
	must(t, err)
	return fsys
}

func TestConformance(t *testing.T) {
	tests := map[string]func(t *testing.T, fsys vfs.FS){
		"open":       conformOpen,
		"names":      conformNames,
		"read write": conformReadWrite,
		"lengths":    conformLengths,
		"directory":  conformDirectory,
		"unlinked":   conformUnlinked,
		"closed":     conformClosed,
		"lock":       conformLock,
		"direct":     conformDirect,
		"concurrent": conformConcurrent,
		"free":       conformFree,
	}
	for system, make := range systems(t) {
		for name, test := range tests {
			t.Run(system+"/"+name, func(t *testing.T) { test(t, make(t)) })
		}
	}
}

func conformOpen(t *testing.T, fsys vfs.FS) {
	_, err := fsys.Open("a", vfs.OpenOptions{})
	wantErr(t, err, fs.ErrNotExist)
	_, err = fsys.Open("a", vfs.OpenOptions{ReadOnly: true})
	wantErr(t, err, fs.ErrNotExist)
	f := create(t, fsys, "a")
	write(t, f, 0, "hello")
	must(t, f.Close())

	f = create(t, fsys, "a") // makes only what there is not
	if got := contents(t, f); got != "hello" {
		t.Errorf("opened again: %q, want hello", got)
	}
	if f.Align() != 1 {
		t.Errorf("Align = %d without Direct, want 1", f.Align())
	}
	must(t, f.Close())

	f, err = fsys.Open("a", vfs.OpenOptions{ReadOnly: true})
	must(t, err)
	if _, err := f.WriteAt([]byte("x"), 0); err == nil {
		t.Error("a file opened ReadOnly was written")
	}
	if err := f.Truncate(1); err == nil {
		t.Error("a file opened ReadOnly was truncated")
	}
	if err := f.Allocate(100); err == nil {
		t.Error("a file opened ReadOnly was allocated")
	}
	if got := contents(t, f); got != "hello" {
		t.Errorf("read only: %q, want hello", got)
	}
	must(t, f.Close())
}

func conformNames(t *testing.T, fsys vfs.FS) {
	f := create(t, fsys, "a")
	must(t, f.Close())
	for _, name := range []string{"", ".", "..", "../a", "b/a", "/a", "a/"} {
		_, err := fsys.Open(name, vfs.OpenOptions{Create: true})
		wantErr(t, err, fs.ErrInvalid)
		wantErr(t, fsys.Remove(name), fs.ErrInvalid)
		wantErr(t, fsys.Rename(name, "c"), fs.ErrInvalid)
		wantErr(t, fsys.Rename("a", name), fs.ErrInvalid)
		_, err = fsys.Lock(name)
		wantErr(t, err, fs.ErrInvalid)
	}
	wantList(t, fsys, "a")
}

func conformReadWrite(t *testing.T, fsys vfs.FS) {
	f := create(t, fsys, "a")
	defer f.Close()
	n, err := f.ReadAt(make([]byte, 1), 0)
	if n != 0 || err != io.EOF {
		t.Errorf("empty file: %d, %v, want 0, EOF", n, err)
	}
	write(t, f, 10_000, "tail")
	buf := bytes.Repeat([]byte{7}, 10)
	if n, err := f.ReadAt(buf, 9_998); n != 6 || err != io.EOF || string(buf[:6]) != "\x00\x00tail" {
		t.Errorf("over the end: %d, %v, %q", n, err, buf)
	}
	if n, err := f.ReadAt(buf[:4], 10_000); n != 4 || err != nil && err != io.EOF {
		t.Errorf("up to the end: %d, %v", n, err)
	}
	if n, err := f.ReadAt(buf, 20_000); n != 0 || err != io.EOF {
		t.Errorf("after the end: %d, %v, want 0, EOF", n, err)
	}
	if n, err := f.ReadAt(nil, 3); n != 0 || err != nil {
		t.Errorf("nothing: %d, %v, want 0, nil", n, err)
	}
	if _, err := f.ReadAt(buf, -1); err == nil {
		t.Error("a read before the beginning succeeded")
	}
	if _, err := f.WriteAt(buf, -1); err == nil {
		t.Error("a write before the beginning succeeded")
	}
	big := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	if n, err := f.WriteAt(big, 4_000); n != len(big) || err != nil {
		t.Fatalf("WriteAt = %d, %v", n, err)
	}
	got := make([]byte, len(big))
	if n, err := f.ReadAt(got, 4_000); n != len(big) || err != nil && err != io.EOF || !bytes.Equal(got, big) {
		t.Errorf("1 MiB came back as %d bytes, %v", n, err)
	}
	must(t, f.Sync())
}

func conformLengths(t *testing.T, fsys vfs.FS) {
	f := create(t, fsys, "a")
	defer f.Close()
	wantSize(t, f, 0)
	write(t, f, 0, "hello, world")
	must(t, f.Truncate(5))
	wantSize(t, f, 5)
	must(t, f.Truncate(8))
	if got := contents(t, f); got != "hello\x00\x00\x00" {
		t.Errorf("cut and extended: %q", got)
	}
	must(t, f.Allocate(100_000))
	wantSize(t, f, 100_000)
	if got := contents(t, f); got != "hello"+string(make([]byte, 99_995)) {
		t.Errorf("allocated: %q...", got[:20])
	}
	write(t, f, 50_000, "middle")
	must(t, f.Allocate(50_003))
	wantSize(t, f, 50_003)
	must(t, f.Truncate(50_010))
	if got := contents(t, f)[50_000:]; got != "mid\x00\x00\x00\x00\x00\x00\x00" {
		t.Errorf("cut by Allocate and extended: %q", got)
	}
	must(t, f.Allocate(0))
	wantSize(t, f, 0)
	if err := f.Truncate(-1); err == nil {
		t.Error("Truncate(-1) succeeded")
	}
	if err := f.Allocate(-1); err == nil {
		t.Error("Allocate(-1) succeeded")
	}
	wantSize(t, f, 0)
}

func conformDirectory(t *testing.T, fsys vfs.FS) {
	wantList(t, fsys)
	wantErr(t, fsys.Remove("a"), fs.ErrNotExist)
	wantErr(t, fsys.Rename("a", "b"), fs.ErrNotExist)
	for _, name := range []string{"c", "a", "b"} {
		f := create(t, fsys, name)
		write(t, f, 0, name)
		must(t, f.Close())
	}
	wantList(t, fsys, "a", "b", "c")
	must(t, fsys.Rename("a", "b"))
	wantList(t, fsys, "b", "c")
	f, err := fsys.Open("b", vfs.OpenOptions{ReadOnly: true})
	must(t, err)
	if got := contents(t, f); got != "a" {
		t.Errorf("b holds %q after it was replaced by a", got)
	}
	must(t, f.Close())
	must(t, fsys.Rename("b", "b"))
	must(t, fsys.Remove("c"))
	wantList(t, fsys, "b")
	must(t, fsys.SyncDir())
}

// An open file outlives its name.
func conformUnlinked(t *testing.T, fsys vfs.FS) {
	f := create(t, fsys, "a")
	write(t, f, 0, "old")
	must(t, fsys.Remove("a"))
	g := create(t, fsys, "a")
	write(t, g, 0, "newer")
	if got := contents(t, f); got != "old" {
		t.Errorf("the removed file reads %q, want old", got)
	}
	h := create(t, fsys, "b")
	write(t, h, 0, "other")
	must(t, fsys.Rename("b", "a"))
	if got := contents(t, g); got != "newer" {
		t.Errorf("the replaced file reads %q, want newer", got)
	}
	for _, f := range []vfs.File{f, g, h} {
		must(t, f.Close())
	}
}

func conformClosed(t *testing.T, fsys vfs.FS) {
	f := create(t, fsys, "a")
	must(t, f.Close())
	_, readErr := f.ReadAt(make([]byte, 1), 0)
	_, writeErr := f.WriteAt(make([]byte, 1), 0)
	_, sizeErr := f.Size()
	for _, err := range []error{readErr, writeErr, sizeErr, f.Sync(), f.Truncate(1), f.Allocate(1), f.Close()} {
		wantErr(t, err, fs.ErrClosed)
	}
}

func conformLock(t *testing.T, fsys vfs.FS) {
	lock, err := fsys.Lock("LOCK")
	must(t, err)
	_, err = fsys.Lock("LOCK")
	wantErr(t, err, vfs.ErrLocked)
	other, err := fsys.Lock("OTHER")
	must(t, err)
	wantList(t, fsys, "LOCK", "OTHER")
	must(t, lock.Close())
	must(t, lock.Close())
	again, err := fsys.Lock("LOCK")
	must(t, err)
	must(t, lock.Close()) // of the owner before: does nothing
	_, err = fsys.Lock("LOCK")
	wantErr(t, err, vfs.ErrLocked)
	must(t, again.Close())
	must(t, other.Close())
}

func conformDirect(t *testing.T, fsys vfs.FS) {
	f, err := fsys.Open("a", vfs.OpenOptions{Create: true, Direct: true})
	if errors.Is(err, vfs.ErrNoDirect) {
		t.Logf("not tested further: %v", err)
		return
	}
	must(t, err)
	defer f.Close()
	a := f.Align()
	if a < 512 || a&(a-1) != 0 {
		t.Fatalf("Align = %d, want a power of two from 512 up", a)
	}
	must(t, f.Allocate(int64(8*a)))
	out, in := vfs.Aligned(3*a, a), vfs.Aligned(3*a, a)
	for i := range out {
		out[i] = byte(i / 7)
	}
	if n, err := f.WriteAt(out, int64(2*a)); n != len(out) || err != nil {
		t.Fatalf("WriteAt = %d, %v", n, err)
	}
	if n, err := f.ReadAt(in, int64(2*a)); n != len(in) || err != nil || !bytes.Equal(in, out) {
		t.Errorf("read back %d, %v, same %v", n, err, bytes.Equal(in, out))
	}
	if n, err := f.ReadAt(in, int64(6*a)); n != 2*a || err != io.EOF {
		t.Errorf("over the end: %d, %v, want %d, EOF", n, err, 2*a)
	}
	if n, err := f.ReadAt(in, int64(9*a)); n != 0 || err != io.EOF {
		t.Errorf("after the end: %d, %v, want 0, EOF", n, err)
	}
	must(t, f.Truncate(int64(3*a+100))) // no multiple of Align
	if n, err := f.ReadAt(in, int64(2*a)); n != a+100 || err != io.EOF || !bytes.Equal(in[:n], out[:a+100]) {
		t.Errorf("over an end inside a unit: %d, %v, want %d, EOF", n, err, a+100)
	}
	must(t, f.Allocate(int64(5*a)))
	wantSize(t, f, int64(5*a))
}

func conformConcurrent(t *testing.T, fsys vfs.FS) {
	f := create(t, fsys, "a")
	defer f.Close()
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			mine := bytes.Repeat([]byte{byte(i + 1)}, 1000)
			got := make([]byte, len(mine))
			for j := range 20 {
				off := int64(1000 * (8*j + i))
				if _, err := f.WriteAt(mine, off); err != nil {
					t.Error(err)
				}
				if _, err := f.ReadAt(got, off); err != nil && err != io.EOF || !bytes.Equal(got, mine) {
					t.Errorf("writer %d reads %d..., %v", i, got[0], err)
				}
			}
			if err := f.Sync(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	wantSize(t, f, 8*20*1000)
}

func conformFree(t *testing.T, fsys vfs.FS) {
	n, err := fsys.Free()
	if err != nil || n <= 0 {
		t.Errorf("Free = %d, %v", n, err)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantErr(t testing.TB, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("error %v, want one that is %q", err, want)
	}
}

func wantSize(t testing.TB, f vfs.File, want int64) {
	t.Helper()
	if got, err := f.Size(); got != want || err != nil {
		t.Errorf("Size = %d, %v, want %d", got, err, want)
	}
}

func wantList(t testing.TB, fsys vfs.FS, want ...string) {
	t.Helper()
	if got, err := fsys.List(); !slices.Equal(got, want) || err != nil {
		t.Errorf("List = %q, %v, want %q", got, err, want)
	}
}

func create(t testing.TB, fsys vfs.FS, name string) vfs.File {
	t.Helper()
	f, err := fsys.Open(name, vfs.OpenOptions{Create: true})
	must(t, err)
	return f
}

func write(t testing.TB, f vfs.File, off int64, s string) {
	t.Helper()
	if n, err := f.WriteAt([]byte(s), off); n != len(s) || err != nil {
		t.Fatalf("WriteAt(%d bytes, %d) = %d, %v", len(s), off, n, err)
	}
}

// contents reads a whole file.
func contents(t testing.TB, f vfs.File) string {
	t.Helper()
	size, err := f.Size()
	must(t, err)
	b := make([]byte, size)
	if n, err := f.ReadAt(b, 0); int64(n) != size || err != nil && err != io.EOF {
		t.Fatalf("read %d of %d bytes: %v", n, size, err)
	}
	return string(b)
}
