package vfs_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/firncache/firn/internal/vfs/vfstest"

	"github.com/firncache/firn/internal/vfs"
)

// lockEnv tells the test binary to be the child of TestLockOfKilledProcess.
const lockEnv = "FIRN_TEST_LOCK_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(lockEnv); dir != "" {
		holdLock(dir)
	}
	if dir := os.Getenv(memoryEnv); dir != "" {
		keepMemory(dir)
	}
	leaveSharedMemory()
	code := m.Run()
	if left := memoryOf(os.Getpid()); len(left) > 0 {
		fmt.Printf("FAIL: the tests left memory behind: %q\n", left)
		code = 1
	}
	os.Exit(code)
}

// holdLock takes the lock, says so, and keeps it until standard input ends.
func holdLock(dir string) {
	fsys, err := vfs.OS(dir)
	if err == nil {
		_, err = fsys.Lock("LOCK")
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("locked")
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}

func TestLockOfKilledProcess(t *testing.T) {
	dir := t.TempDir()
	fsys, err := vfs.OS(dir)
	must(t, err)
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), lockEnv+"="+dir)
	stdin, err := child.StdinPipe()
	must(t, err)
	defer stdin.Close()
	stdout, err := child.StdoutPipe()
	must(t, err)
	must(t, child.Start())
	said, err := bufio.NewReader(stdout).ReadString('\n')
	if said != "locked\n" {
		t.Fatalf("the child said %q, %v", said, err)
	}

	_, err = fsys.Lock("LOCK")
	wantErr(t, err, vfs.ErrLocked)
	if path := filepath.Join(dir, "LOCK"); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("error %q does not name %s", err, path)
	}
	must(t, child.Process.Kill())
	_ = child.Wait()
	lock, err := fsys.Lock("LOCK")
	must(t, err)
	must(t, lock.Close())
}

func TestOSMakesDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	_, err := vfs.OSExisting(dir)
	wantErr(t, err, fs.ErrNotExist)
	fsys, err := vfs.OS(dir)
	must(t, err)
	wantList(t, fsys)
	must(t, os.Mkdir(filepath.Join(dir, "c"), 0o700))
	wantList(t, fsys) // files only
	fsys, err = vfs.OSExisting(dir)
	must(t, err)
	wantList(t, fsys)
}

func TestOSNotADirectory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(path, nil, 0o600))
	for _, open := range []func(string) (vfs.FS, error){vfs.OS, vfs.OSExisting} {
		_, err := open(path)
		if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "not a directory") {
			t.Errorf("error %v: want one that names %s as not a directory", err, path)
		}
	}
	_, err := vfs.OS(filepath.Join(path, "below"))
	if err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("error %v: want one that names %s", err, path)
	}
}

// A relative directory stays the same when the process goes elsewhere.
func TestOSRelative(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	fsys, err := vfs.OS("cache")
	must(t, err)
	t.Chdir(t.TempDir())
	must(t, create(t, fsys, "a").Close())
	if _, err := os.Stat(filepath.Join(dir, "cache", "a")); err != nil {
		t.Error(err)
	}
}

func TestOSDirectoryRemoved(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	fsys, err := vfs.OS(dir)
	must(t, err)
	must(t, os.Remove(dir))
	_, openErr := fsys.Open("a", vfs.OpenOptions{Create: true})
	_, lockErr := fsys.Lock("LOCK")
	_, listErr := fsys.List()
	for _, err := range []error{openErr, lockErr, listErr, fsys.Remove("a"), fsys.Rename("a", "b")} {
		wantErr(t, err, fs.ErrNotExist)
		if err != nil && !strings.Contains(err.Error(), dir) {
			t.Errorf("error %q does not name %s", err, dir)
		}
	}
}

// Some systems refuse to read on at an end that is no multiple of Align. A file
// that cannot be read at all stands for one of those.
func TestDirectReadRefusedAtTheEnd(t *testing.T) {
	file, err := os.OpenFile(filepath.Join(t.TempDir(), "a"), os.O_CREATE|os.O_WRONLY, 0o600)
	must(t, err)
	defer file.Close()
	must(t, file.Truncate(100))
	f := vfs.NewOSFile(file, 512)
	if n, err := f.ReadAt(make([]byte, 512), 100); n != 0 || err != io.EOF {
		t.Errorf("at the end: %d, %v, want 0, EOF", n, err)
	}
	if n, err := f.ReadAt(make([]byte, 512), 99); n != 0 || err == nil || err == io.EOF {
		t.Errorf("before the end: %d, %v, want an error", n, err)
	}
}

func TestWriteZeros(t *testing.T) {
	for _, opts := range []vfs.OpenOptions{{Create: true}, {Create: true, Direct: true}} {
		f, err := realFS(t).Open("a", opts)
		if errors.Is(err, vfs.ErrNoDirect) {
			t.Logf("not tested: %v", err)
			continue
		}
		must(t, err)
		a := f.Align()
		p := vfs.Aligned(a, a)
		for i := range p {
			p[i] = 'x'
		}
		_, err = f.WriteAt(p, 0)
		must(t, err)
		must(t, f.Truncate(int64(min(a, 100)))) // no multiple of Align
		must(t, vfs.WriteZeros(f, int64(min(a, 100)), 3<<20+7))
		wantSize(t, f, 3<<20+7)
		must(t, f.Truncate(4<<20))
		buf := vfs.Aligned(4<<20, a)
		if n, err := f.ReadAt(buf, 0); n != len(buf) || err != nil && err != io.EOF {
			t.Fatalf("ReadAt = %d, %v", n, err)
		}
		if got, want := strings.TrimRight(string(buf), "\x00"), strings.Repeat("x", min(a, 100)); got != want {
			t.Errorf("%+v: the file begins with %d bytes that are no zeros, want %d", opts, len(got), len(want))
		}
		must(t, f.Close())
	}
}

// Systems write at most 2 GiB in a call, and some refuse to read more. The
// buffer is never touched: the null device takes what is written, and the file
// has little to read. TestInPieces has the offsets.
func TestOSOver2GiB(t *testing.T) {
	if testing.Short() || strconv.IntSize == 32 {
		t.Skip("the race detector would touch the 2 GiB; 32 bits do not have them")
	}
	size := int64(1<<31 + 1<<20 + 3)
	b := make([]byte, size)
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	must(t, err)
	defer null.Close()
	if n, err := vfs.NewOSFile(null, 1).WriteAt(b, 5); n != len(b) || err != nil {
		t.Errorf("WriteAt = %d, %v", n, err)
	}
	f := create(t, realFS(t), "a")
	defer f.Close()
	write(t, f, 0, "hello")
	if n, err := f.ReadAt(b, 1); n != 4 || err != io.EOF || string(b[:5]) != "ello\x00" {
		t.Errorf("ReadAt = %d, %v, %q", n, err, b[:5])
	}
}

func TestInPieces(t *testing.T) {
	f := create(t, vfstest.NewMem(), "a")
	out, in := []byte("0123456789abcdefghi"), make([]byte, 30)
	if n, err := vfs.InPieces(out, 7, 4, f.WriteAt); n != 19 || err != nil {
		t.Errorf("written %d, %v", n, err)
	}
	if got := contents(t, f); got != strings.Repeat("\x00", 7)+string(out) {
		t.Errorf("the file holds %q", got)
	}
	if n, err := vfs.InPieces(in[:19], 7, 4, f.ReadAt); n != 19 || string(in[:19]) != string(out) || err != nil && err != io.EOF {
		t.Errorf("read %d, %v, %q", n, err, in)
	}
	if n, err := vfs.InPieces(in, 7, 4, f.ReadAt); n != 19 || err != io.EOF {
		t.Errorf("over the end: %d, %v, want 19, EOF", n, err)
	}
}

func TestOSReadAllocatesNothing(t *testing.T) {
	f := create(t, realFS(t), "a")
	defer f.Close()
	write(t, f, 0, "hello")
	buf := make([]byte, 5)
	if n := testing.AllocsPerRun(100, func() {
		_, _ = f.WriteAt(buf, 0)
		_, _ = f.ReadAt(buf, 0)
	}); n != 0 {
		t.Errorf("a write and a read allocate %v times", n)
	}
}
