package ssd

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/cachetest"
	"github.com/firncache/firn/internal/ssd"
	"github.com/firncache/firn/internal/tests/harness"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// closeUnderLoad closes the cache while writers, each with its own keys, and
// readers use it.
func closeUnderLoad(t *testing.T, s *harness.Stress) {
	t.Helper()
	var group sync.WaitGroup
	var begun sync.WaitGroup
	const writers = 3
	begun.Add(writers)
	for k := range writers {
		group.Go(func() {
			var buf []byte
			for n := 0; ; n++ {
				if n == 500 {
					begun.Done()
				}
				r := s.Registers[k+writers*(n%(len(s.Registers)/writers))]
				var err error
				// A write that fails was not acknowledged.
				seq := r.Next()
				buf = cachetest.AppendValue(buf[:0], r.Key, seq, 100+n%3000)
				if n%10 == 0 {
					err = s.C.Delete(r.Key)
				} else {
					err = s.C.Set(r.Key, buf)
				}
				switch {
				case err == nil:
					r.Ack(seq)
				case errors.Is(err, firn.ErrClosed):
					if n < 500 {
						begun.Done()
					}
					return
				default:
					t.Error(err)
				}
				other := s.Registers[n%len(s.Registers)]
				acked := other.Acked()
				if v, ok := s.C.Get(nil, other.Key); ok {
					if err := other.CheckRead(acked, v); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	begun.Wait()
	if err := s.C.Close(); err != nil {
		t.Error(err)
	}
	if err := s.C.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
	group.Wait()
}

// Row 34: key and value may be changed after Set, and what was returned after
// Get, from the SSD too.
func TestFault34Copies(t *testing.T) {
	t.Parallel()
	c := hybrid(t, t.TempDir())
	defer c.Close()
	const n = 4000
	key, value := make([]byte, 0, 32), make([]byte, 0, 512)
	for i := range n {
		k, v := harness.Numbered(i)
		key, value = append(key[:0], k...), append(value[:0], v...)
		if err := c.Set(key, value); err != nil {
			t.Fatal(err)
		}
		clear(key)
		clear(value)
	}
	for range 2 {
		for i := range n {
			k, want := harness.Numbered(i)
			got, ok := c.Get([]byte("before "), k)
			if !ok {
				continue
			}
			if string(got) != "before "+string(want) {
				t.Fatalf("%s: %q", k, got)
			}
			clear(got)
			clear(k)
		}
	}
	if s := c.Stats(); s.SSD.Hits == 0 {
		t.Fatalf("nothing came from the SSD: %+v", s)
	}
}

// onFaulty is a cache over a file system that can fail, and n numbered entries
// in it, most of them below RAM. It is meant for bubbles, where the time that
// something waits for the disk passes when everything waits.
func onFaulty(t testing.TB, n int, change ...func(*ssd.Config)) (*firn.Cache, *vfstest.Faulty, *vfstest.Mem) {
	t.Helper()
	mem := vfstest.NewMem()
	f := vfstest.NewFaulty(mem)
	c, err := firn.Open(firn.Options{RAMBytes: 1 << 20, Clock: time.Now,
		SSD: harness.With(harness.On(firn.SSDOptions{Bytes: 16 << 20, SegmentBytes: 64 << 10, Admission: firn.AdmitAll}, f), func(c *ssd.Config) {
			c.RetryInterval = time.Millisecond
			for _, f := range change {
				f(c)
			}
		})})
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		key, value := harness.Numbered(i)
		if err := c.Set(key, value); err != nil {
			t.Fatal(err)
		}
	}
	if s := c.Stats(); s.SSD.Demotions == 0 {
		t.Fatalf("%+v", s)
	}
	return c, f, mem
}

// Rows 10 to 12: whatever fails, RAM serves on, and the tier is back when the
// disk is.
func TestFault10to12RAMServesOn(t *testing.T) {
	t.Parallel()
	for _, failure := range []error{syscall.EIO, syscall.ENOSPC} {
		synctest.Test(t, func(t *testing.T) { ramServesOn(t, failure) })
	}
}

func ramServesOn(t *testing.T, failure error) {
	const n = 5000
	c, f, _ := onFaulty(t, n)
	in := f.Inject(vfstest.Rule{On: vfstest.OpAny &^ vfstest.OpClose, Err: failure})
	for i := range n {
		key, value := harness.Numbered(i)
		err := c.Set(key, append(value, "new"...))
		if v, ok := c.Get(nil, key); !ok || err != nil || !bytes.HasSuffix(v, []byte("new")) {
			t.Fatalf("%v: Set %v, Get %q, %v", failure, err, v, ok)
		}
	}
	if s := c.Stats(); s.SSD.Online || s.SSD.SwitchedOff == 0 {
		t.Fatalf("%+v", s)
	}
	in.Remove()
	for !c.Stats().SSD.Online {
		time.Sleep(time.Millisecond) // of the bubble
	}
	check := func(suffix string) {
		t.Helper()
		for i := range n {
			key, value := harness.Numbered(i)
			if v, ok := c.Get(nil, key); ok && string(v) != string(value)+suffix {
				t.Fatalf("%s: %q", key, v)
			}
		}
	}
	check("new")
	for i := range n {
		key, value := harness.Numbered(i)
		harness.Set(t, c, key, value)
	}
	check("")
	if s := c.Stats(); s.SSD.Hits == 0 {
		t.Fatalf("%+v", s)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
}

// Row 16: the disk is stuck. What is in RAM is found, what is not is waited for
// no longer than the context says, and Close comes back.
func TestFault16Stuck(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, f, _ := onFaulty(t, 8000)
		stuck := f.Inject(vfstest.Rule{On: vfstest.OpRead | vfstest.OpWrite, Name: "log", Block: true})
		ctx, cancel := context.WithCancel(context.Background())
		var group sync.WaitGroup
		for i := range 20 {
			group.Go(func() {
				key, _ := harness.Numbered(i)
				_, err := c.Lookup(ctx, nil, key)
				if !errors.Is(err, context.Canceled) && err != nil && !errors.Is(err, firn.ErrNotFound) {
					t.Errorf("Lookup: %v", err)
				}
			})
		}
		stuck.AwaitBlocked(1)
		hits := 0
		for i := 8000; i < 9000; i++ { // these are written while it is stuck
			key, value := harness.Numbered(i)
			harness.Set(t, c, key, value)
			if v, ok := c.Get(nil, key); ok && string(v) == string(value) {
				hits++
			}
		}
		if hits != 1000 {
			t.Fatalf("%d of 1000 found in RAM", hits)
		}
		cancel()
		group.Wait()
		if err := c.Close(); err == nil {
			t.Error("Close says that what is stuck was written")
		}
		stuck.Remove()
	})
}

// Row 32: opening and closing many times leaves no goroutine, of which the bubble
// would never end, and no file.
func TestFault32Leaks(t *testing.T) {
	t.Parallel()
	for range 4 {
		f := vfstest.NewFaulty(vfstest.NewMem())
		synctest.Test(t, func(t *testing.T) {
			c := harness.HybridOn(t, f)
			for k := range 1000 {
				key, value := harness.Numbered(k)
				harness.Set(t, c, key, value)
				c.Get(nil, key)
			}
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
		})
		if open := f.OpenFiles(); len(open) > 0 {
			t.Errorf("%v are open after Close", open)
		}
	}
}

// Row 32, with the system's files: those of a process are as many as before.
func TestFault32LeaksFiles(t *testing.T) {
	files := func() int {
		names, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip("this system does not tell which files a process has open")
		}
		return len(names)
	}
	dir := t.TempDir()
	var open int
	for i := range 5 {
		c := hybrid(t, dir)
		key, value := harness.Numbered(i)
		harness.Set(t, c, key, value)
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		if i == 1 { // what stays from the first use of something has been used
			open = files()
		}
	}
	if n := files(); n > open {
		t.Errorf("%d files, %d after the second Close", n, open)
	}
}

// Row 15: a directory that cannot be had is an error that names it.
func TestFault15Directory(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{file, filepath.Join(file, "below"), "/proc/none/at/all"} {
		_, err := firn.Open(firn.Options{RAMBytes: 2 << 20, SSD: firn.SSDOptions{Dir: dir, Bytes: 8 << 20}})
		if err == nil || !bytes.Contains([]byte(err.Error()), []byte("SSD")) {
			t.Errorf("%s: %v: want an error that names the SSD tier", dir, err)
		}
	}
}

// Row 15: the directory is removed while the cache is open: it serves on, and a
// new one can be opened in its place.
func TestFault15Removed(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "cache")
	c := hybrid(t, dir)
	for i := range 4000 {
		key, value := harness.Numbered(i)
		if err := c.Set(key, value); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Skipf("this system does not remove files that are open: %v", err)
	}
	hits := 0
	for i := range 4000 {
		key, value := harness.Numbered(i)
		if v, ok := c.Get(nil, key); ok {
			if string(v) != string(value) {
				t.Fatalf("%s: %q", key, v)
			}
			hits++
		}
	}
	if hits == 0 {
		t.Fatal("nothing is found")
	}
	_ = c.Close() // there is nowhere to write a snapshot
	c = hybrid(t, dir)
	if n := c.Len(); n != 0 {
		t.Fatalf("%d entries of a directory that was removed", n)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
}

// Row 18, in one process; TestFault18Process has the other.
func TestFault18TwoCaches(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := hybrid(t, dir)
	link := filepath.Join(t.TempDir(), "link")
	dirs := []string{dir}
	if os.Symlink(dir, link) == nil {
		dirs = append(dirs, link)
	}
	for _, d := range dirs {
		if _, err := firn.Open(firn.Options{RAMBytes: 2 << 20, SSD: firn.SSDOptions{Dir: d, Bytes: 64 << 20}}); !errors.Is(err, firn.ErrLocked) {
			t.Fatalf("second Open in %s: %v, want ErrLocked", d, err)
		}
	}
	key, value := harness.Numbered(1)
	if err := c.Set(key, value); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	c = hybrid(t, dir)
	if v, ok := c.Get(nil, key); !ok || string(v) != string(value) {
		t.Fatalf("%q, %v", v, ok)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
}

// Row 19: the directory is moved, or copied, while the cache is closed.
func TestFault19Moved(t *testing.T) {
	t.Parallel()
	dir, other := filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")
	c := hybrid(t, dir)
	key, value := harness.Numbered(1)
	if err := c.Set(key, value); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(other, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{dir, other} {
		c := hybrid(t, d)
		if v, ok := c.Get(nil, key); !ok || string(v) != string(value) {
			t.Fatalf("%s: %q, %v", d, v, ok)
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
