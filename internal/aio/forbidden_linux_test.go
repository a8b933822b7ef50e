package aio

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/firncache/firn/internal/vfs"
)

// In a process of its own, forbiddenEnv lists the system calls that are answered by
// an error, as "number=errno,…"; readEnv is the file to read, by direct I/O unless
// cachedEnv is set. overlayEnv is a directory to put an overlay in for that.
const (
	forbiddenEnv = "FIRN_AIO_FORBIDDEN"
	readEnv      = "FIRN_AIO_READ"
	cachedEnv    = "FIRN_AIO_CACHED"
	overlayEnv   = "FIRN_AIO_OVERLAY"
)

// TestForbidden: with system calls forbidden by seccomp, as containers do, or
// missing, or at a limit, Auto takes the next best engine, and reads what is there.
func TestForbidden(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data")
	writeContent(t, path)
	noRing := map[int]unix.Errno{unix.SYS_IO_URING_SETUP: unix.EPERM}
	and := func(call int, errno unix.Errno) map[int]unix.Errno {
		return map[int]unix.Errno{unix.SYS_IO_URING_SETUP: unix.EPERM, call: errno}
	}
	libaio := libAIOFor(t, path)
	for _, c := range []struct {
		name      string
		forbidden map[int]unix.Errno
		cached    bool
		want      string
	}{
		{"no permission for io_uring", noRing, false, libaio},
		{"no io_uring", map[int]unix.Errno{unix.SYS_IO_URING_SETUP: unix.ENOSYS}, false, libaio},
		{"no direct I/O", noRing, true, "pread"},
		{"no permission for io_setup", and(unix.SYS_IO_SETUP, unix.EPERM), false, "pread"},
		{"no io_setup", and(unix.SYS_IO_SETUP, unix.ENOSYS), false, "pread"},
		{"aio-max-nr used up", and(unix.SYS_IO_SETUP, unix.EAGAIN), false, "pread"},
		{"no permission for io_submit", and(unix.SYS_IO_SUBMIT, unix.EPERM), false, "pread"},
		{"no RWF_NOWAIT", and(unix.SYS_IO_SUBMIT, unix.EINVAL), false, "pread"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			env := []string{forbiddenEnv + "=" + list(c.forbidden), readEnv + "=" + path}
			if c.cached {
				env = append(env, cachedEnv+"=1")
			}
			if got := readForbidden(t, env, 0); got != c.want {
				t.Errorf("read by %q, want %q", got, c.want)
			}
		})
	}
}

// TestForbiddenOnOverlay: a container's own files are on an overlay.
func TestForbiddenOnOverlay(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("cannot be tested: to mount takes root")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "data")
	writeContent(t, path)
	if libAIOFor(t, path) != "libaio" {
		return
	}
	env := []string{
		forbiddenEnv + "=" + list(map[int]unix.Errno{unix.SYS_IO_URING_SETUP: unix.EPERM}),
		readEnv + "=" + filepath.Join(dir, "merged", "data"),
		overlayEnv + "=" + dir,
	}
	if got := readForbidden(t, env, unix.CLONE_NEWNS); got != "libaio" {
		t.Errorf("read by %q, want libaio", got)
	}
}

// list is calls as forbid takes them.
func list(calls map[int]unix.Errno) string {
	var entries []string
	for call, errno := range calls {
		entries = append(entries, fmt.Sprintf("%d=%d", call, errno))
	}
	return strings.Join(entries, ",")
}

// writeContent makes a file, and puts it on the disk: direct reads that must not
// wait do not wait for that.
func writeContent(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	_, werr := f.Write(content)
	if err := errors.Join(werr, f.Sync(), f.Close()); err != nil {
		t.Fatal(err)
	}
}

// openDirect opens a file for direct I/O.
func openDirect(path string) (vfs.File, error) {
	fs, err := vfs.OS(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	return fs.Open(filepath.Base(path), vfs.OpenOptions{ReadOnly: true, Direct: os.Getenv(cachedEnv) == ""})
}

// libAIOFor is the engine of a file where libaio is the next best.
func libAIOFor(t *testing.T, path string) string {
	f, err := openDirect(path)
	if err != nil {
		return "pread" // each process will say that it cannot be tested
	}
	defer f.Close()
	r, err := Open(Config{File: f, Mode: LibAIO})
	if err != nil {
		t.Logf("only preads are tested: %v", err)
		return "pread"
	}
	r.Close()
	return "libaio"
}

// readForbidden runs TestReadForbidden in a process of its own, and returns which
// engine that had.
func readForbidden(t *testing.T, env []string, unshare uintptr) string {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-test.run=^TestReadForbidden$", "-test.v")
	cmd.Env = append(append(os.Environ(), "GORACE=atexit_sleep_ms=0"), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: unshare}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if _, why, skipped := strings.Cut(string(out), "cannot be tested: "); skipped {
		t.Skip("cannot be tested: " + why)
	}
	_, name, _ := strings.Cut(string(out), "engine: ")
	name, _, _ = strings.Cut(name, "\n")
	return name
}

// TestReadForbidden is the process that TestForbidden starts.
func TestReadForbidden(t *testing.T) {
	path := os.Getenv(readEnv)
	if path == "" {
		return
	}
	if dir := os.Getenv(overlayEnv); dir != "" {
		mountOverlay(t, dir)
		writeContent(t, path)
	}
	f, err := openDirect(path)
	if err != nil {
		t.Skipf("cannot be tested: %v", err)
	}
	defer f.Close()
	if err := forbid(os.Getenv(forbiddenEnv)); err != nil {
		t.Skipf("cannot be tested: seccomp: %v", err)
	}
	r := open(t, Config{File: f, Depth: 16})
	var wg sync.WaitGroup
	for i := range int64(32) {
		wg.Go(func() {
			reqs := []Request{{Off: i * 4096, N: 4096}, {Off: i * 8192, N: 8192}}
			r.ReadMany(context.Background(), reqs)
			check(t, reqs[0])
			check(t, reqs[1])
		})
	}
	wg.Wait()
	name := r.Stats().Mode
	if name == "pread" && f.Align() > 1 {
		if r, err := Open(Config{File: f, Mode: LibAIO}); err == nil {
			t.Error("libaio could be had")
			r.Close()
		}
	}
	fmt.Printf("engine: %s\n", name)
}

// mountOverlay puts an overlay at dir/merged, for as long as the process's own view
// of what is mounted lasts.
func mountOverlay(t *testing.T, dir string) {
	for _, name := range []string{"lower", "upper", "work", "merged"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	options := fmt.Sprintf("lowerdir=%s/lower,upperdir=%[1]s/upper,workdir=%[1]s/work", dir)
	if err := unix.Mount("overlay", filepath.Join(dir, "merged"), "overlay", 0, options); err != nil {
		t.Skipf("cannot be tested: mount: %v", err)
	}
}

// forbid answers system calls of this process, listed as "number=errno,…", with
// errors from now on.
func forbid(list string) error {
	filter := []unix.SockFilter{{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS}} // the call's number
	for entry := range strings.SplitSeq(list, ",") {
		call, errno, _ := strings.Cut(entry, "=")
		c, err := strconv.ParseUint(call, 10, 32)
		if err != nil {
			return err
		}
		e, err := strconv.ParseUint(errno, 10, 12)
		if err != nil {
			return err
		}
		filter = append(filter,
			unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: uint32(c), Jf: 1},
			unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(e)})
	}
	filter = append(filter, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW})
	return setFilter(&unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]})
}

// setFilter puts a filter on all threads of the process.
func setFilter(filter *unix.SockFprog) error {
	runtime.LockOSThread() // of the two calls the first holds for a thread
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	left, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(filter)))
	if errno != 0 {
		return errno
	}
	if left != 0 {
		return fmt.Errorf("thread %d cannot be filtered", left)
	}
	return nil
}
