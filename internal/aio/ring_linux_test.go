package aio

import (
	"context"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// openTestRing opens a reader with io_uring, or says that there is none.
func openTestRing(t *testing.T, f *file, depth int) *ring {
	t.Helper()
	if !available(t, Ring) {
		return nil
	}
	return open(t, Config{File: f, Mode: Ring, Depth: depth}).engine.(*ring)
}

// TestShortReads: a pipe gives what it has, and the ring asks for the rest.
func TestShortReads(t *testing.T) {
	from, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	_ = from.Fd() // makes it blocking
	g := openTestRing(t, &file{f: from}, 1)
	if g == nil {
		return
	}
	got := make(chan string)
	go func() {
		buf, err := g.r.Read(context.Background(), 0, 10)
		if err != nil {
			t.Error(err)
		}
		read := string(buf.Bytes())
		buf.Release()
		got <- read
	}()
	for _, part := range []string{"fi", "rn is", " snow"} {
		to.WriteString(part)
	}
	if s := <-got; s != "firn is sn" {
		t.Errorf("%q", s)
	}
	to.Close() // the next read ends after two bytes
	if buf, err := g.r.Read(context.Background(), 0, 10); buf != nil || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%v at the end", err)
	}
}

// TestErrorOfTheKernel: a directory cannot be read.
func TestErrorOfTheKernel(t *testing.T) {
	dir, err := os.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	g := openTestRing(t, &file{f: dir}, 1)
	if g == nil {
		return
	}
	if buf, err := g.r.Read(t.Context(), 0, 1); buf != nil || !errors.Is(err, unix.EISDIR) || !strings.Contains(err.Error(), "1 bytes at 0") {
		t.Errorf("%v, %v", buf, err)
	}
}

func TestJudge(t *testing.T) {
	g := &ring{r: &Reader{align: 512}}
	for _, c := range []struct {
		had  int
		res  int32
		have int
		want error
	}{
		{0, 2048, 2048, nil},
		{0, 1024, 1024, nil},
		{1024, 1024, 2048, nil},
		{512, 512, 1024, nil},
		{0, 100, 100, io.ErrUnexpectedEOF},
		{512, 0, 512, io.ErrUnexpectedEOF},
		{512, -int32(unix.EIO), 512, unix.EIO},
	} {
		o := &op{n: 2048, done: c.had}
		if err := g.judge(o, c.res); !errors.Is(err, c.want) || o.done != c.have {
			t.Errorf("result %d after %d bytes: %d and %v, want %d and %v", c.res, c.had, o.done, err, c.have, c.want)
		}
	}
}

// TestBrokenRing takes the ring's descriptor away while there is load: what the
// kernel has comes back, and preads do the rest.
func TestBrokenRing(t *testing.T) {
	const size = 1 << 20
	g := openTestRing(t, newFile(t, size), 4)
	if g == nil {
		return
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			for j := range 200 {
				if i == 0 && j == 50 {
					if err := unix.Dup3(int(null.Fd()), ringFD(t), unix.O_CLOEXEC); err != nil {
						t.Error(err)
					}
				}
				reqs := []Request{{Off: int64(i * 4096), N: 4096}, {Off: int64(j * 4096), N: 100}}
				g.r.ReadMany(context.Background(), reqs)
				check(t, reqs[0])
				check(t, reqs[1])
			}
		})
	}
	wg.Wait()
	if s := g.r.Stats(); s.Mode != "pread" || s.Errors != 0 {
		t.Errorf("%+v: want preads", s)
	}
}

// ringFD finds the descriptor of the only ring that is open.
func ringFD(t *testing.T) int {
	names, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Error(err)
	}
	for _, n := range names {
		if to, _ := os.Readlink("/proc/self/fd/" + n.Name()); to == "anon_inode:[io_uring]" {
			fd, _ := strconv.Atoi(n.Name())
			return fd
		}
	}
	t.Error("no ring is open")
	return -1
}

// TestDescriptors: a Reader leaves no descriptor open.
func TestDescriptors(t *testing.T) {
	open := func() int {
		names, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(names)
	}
	inModes(t, func(t *testing.T, mode Mode) {
		f := newFile(t, 4096)
		before := open()
		for range 10 {
			r, err := Open(Config{File: f, Mode: mode})
			if err != nil {
				t.Fatal(err)
			}
			buf, err := r.Read(context.Background(), 0, 4096)
			check(t, Request{N: 4096, Buf: buf, Err: err})
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if after := open(); after != before {
			t.Errorf("%d descriptors, %d before", after, before)
		}
	})
}

// TestNoRingToHave: where the system refuses any, here for want of descriptors,
// Auto reads by pread.
func TestNoRingToHave(t *testing.T) {
	f := newDirectFile(t, 4096)
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	none := limit
	none.Cur = 0
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &none); err != nil {
		t.Fatal(err)
	}
	_, noRing := Open(Config{File: f, Mode: Ring})
	_, noLibAIO := Open(Config{File: f, Mode: LibAIO})
	r := open(t, Config{File: f})
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	buf, err := r.Read(context.Background(), 0, 4096)
	check(t, Request{N: 4096, Buf: buf, Err: err})
	if mode := r.Stats().Mode; mode != "pread" {
		t.Errorf("mode %q: want pread", mode)
	}
	for what, err := range map[string]error{"Config.Mode is Ring": noRing, "Config.Mode is LibAIO": noLibAIO} {
		if err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%v: want a refusal that says %q", err, what)
		}
	}
}
