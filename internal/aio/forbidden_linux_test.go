package aio

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/firncache/firn/internal/vfs"
)

// In a process of its own, forbiddenEnv lists the system calls that are answered by
// an error, as "number=errno,…"; readEnv is the file to read, by direct I/O unless
// cachedEnv is set.
const (
	forbiddenEnv = "FIRN_AIO_FORBIDDEN"
	readEnv      = "FIRN_AIO_READ"
	cachedEnv    = "FIRN_AIO_CACHED"
)

// TestForbidden: with system calls forbidden by seccomp, as containers do, or
// missing, or at a limit, Auto takes the next best engine, and reads what is there.
func TestForbidden(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data")
	fs, err := vfs.OS(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	f, err := fs.Open("data", vfs.How{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(content, 0); err != nil {
		t.Fatal(err)
	}
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
	f.Close()
	noRing := map[int]unix.Errno{unix.SYS_IO_URING_SETUP: unix.EPERM}
	and := func(call int, errno unix.Errno) map[int]unix.Errno {
		return map[int]unix.Errno{unix.SYS_IO_URING_SETUP: unix.EPERM, call: errno}
	}
	libaio := libAIOFor(t, fs)
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
			if got := readForbidden(t, path, c.forbidden, c.cached); got != c.want {
				t.Errorf("read by %q, want %q", got, c.want)
			}
		})
	}
}

// libAIOFor is the engine of the file "data" where libaio is the next best.
func libAIOFor(t *testing.T, fs vfs.FS) string {
	f, err := fs.Open("data", vfs.How{ReadOnly: true, Direct: true})
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
func readForbidden(t *testing.T, path string, forbidden map[int]unix.Errno, cached bool) string {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for call, errno := range forbidden {
		list = append(list, fmt.Sprintf("%d=%d", call, errno))
	}
	cmd := exec.Command(self, "-test.run=^TestReadForbidden$", "-test.v")
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0", forbiddenEnv+"="+strings.Join(list, ","), readEnv+"="+path)
	if cached {
		cmd.Env = append(cmd.Env, cachedEnv+"=1")
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if _, why, skipped := strings.Cut(string(out), "cannot be tested: "); skipped {
		t.Skip(why)
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
	fs, err := vfs.OS(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	f, err := fs.Open(filepath.Base(path), vfs.How{ReadOnly: true, Direct: os.Getenv(cachedEnv) == ""})
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
