package ssd

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/tests/harness"
	"github.com/firncache/firn/internal/vfs"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// closing is a cache whose entries lie in RAM, on the SSD and in both, over a disk that
// can fail.
type closing struct {
	c    *firn.Cache
	mem  *vfstest.Mem
	disk *vfstest.Faulty
	want map[string]string // the last value of every key that was found
}

const closingKeys = 1500

func newClosing(t *testing.T, kept bool) *closing {
	s := &closing{mem: vfstest.NewMem(), want: map[string]string{}}
	s.mem.SetMemory(kept)
	s.disk = vfstest.NewFaulty(s.mem)
	s.c = s.open(t, s.disk)
	for i := range closingKeys {
		key, _ := harness.Numbered(i)
		harness.Set(t, s.c, key, fmt.Appendf(nil, "value of %d, %02000d", i, i))
	}
	for i := 0; i < closingKeys; i += 10 { // newer above an older one on the SSD
		key, _ := harness.Numbered(i)
		harness.Set(t, s.c, key, fmt.Appendf(nil, "newer value of %d", i))
	}
	for i := 5; i < closingKeys; i += 10 { // promoted: in both
		key, _ := harness.Numbered(i)
		s.c.Get(nil, key)
	}
	harness.Set(t, s.c, []byte("long"), make([]byte, 200<<10)) // goes in parts
	synctest.Wait()
	for k, v := range s.c.All() {
		s.want[string(k)] = string(v)
	}
	if st := s.c.Stats(); st.Entries < 200 || st.SSD.Entries < 500 || len(s.want) < closingKeys*9/10 {
		t.Fatalf("%d keys are there, %d entries in RAM and %d on the SSD", len(s.want), st.Entries, st.SSD.Entries)
	}
	return s
}

func (s *closing) open(t *testing.T, fs vfs.FS) *firn.Cache {
	t.Helper()
	opts := harness.HybridOptions(fs)
	opts.SSD.Bytes = 8 << 20
	return harness.Open(t, opts)
}

// reopened is how many of the keys the next process finds. None has an older value.
func (s *closing) reopened(t *testing.T, fs *vfstest.Mem) (found int) {
	t.Helper()
	c := s.open(t, fs.CrashClone(nil, vfstest.Kill))
	defer c.Close()
	if n := c.Len(); n > len(s.want) {
		t.Errorf("%d entries: want at most %d", n, len(s.want))
	}
	for i := range closingKeys {
		key, _ := harness.Numbered(i)
		found += s.check(t, c, key)
	}
	return found + s.check(t, c, []byte("long"))
}

// check is 1 if the key is found.
func (s *closing) check(t *testing.T, c *firn.Cache, key []byte) int {
	t.Helper()
	v, ok := c.Get(nil, key)
	if !ok {
		return 0
	}
	if want, there := s.want[string(key)]; there && string(v) != want {
		t.Errorf("%s: %.40q, want %.40q", key, v, want)
	}
	return 1
}

// shutdown returns the error of a Shutdown that has so long, and that it took no longer.
func (s *closing) shutdown(t *testing.T, d time.Duration) *firn.ShutdownError {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	return s.shutdownBy(t, ctx, d)
}

func (s *closing) shutdownBy(t *testing.T, ctx context.Context, d time.Duration) *firn.ShutdownError {
	t.Helper()
	began := time.Now()
	err := s.c.Shutdown(ctx)
	if took := time.Since(began); took > d {
		t.Errorf("Shutdown took %v of %v", took, d)
	}
	if _, ok := s.c.Get(nil, []byte("long")); ok {
		t.Error("a value is found after Shutdown")
	}
	if err := s.c.Set([]byte("long"), nil); !errors.Is(err, firn.ErrClosed) {
		t.Errorf("Set after Shutdown: %v, want ErrClosed", err)
	}
	if err := s.c.Close(); err != nil {
		t.Errorf("Close after Shutdown: %v", err)
	}
	var left *firn.ShutdownError
	if err != nil && !errors.As(err, &left) {
		t.Fatalf("%v: want a ShutdownError", err)
	}
	return left
}

// keepers are whether the system has memory that outlives the process.
func keepers(t *testing.T, test func(t *testing.T, kept bool)) {
	t.Helper()
	for _, kept := range []bool{true, false} {
		t.Run(fmt.Sprintf("kept=%v", kept), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { test(t, kept) })
		})
	}
}

// With time enough everything is there again.
func TestShutdown(t *testing.T) {
	t.Parallel()
	keepers(t, func(t *testing.T, kept bool) {
		s := newClosing(t, kept)
		if err := s.shutdown(t, time.Minute); err != nil {
			t.Fatal(err)
		}
		if found := s.reopened(t, s.mem); found != len(s.want) {
			t.Errorf("%d of %d are found", found, len(s.want))
		}
	})
}

// A disk that is too slow gets what it can take in time, and the error counts the rest to
// the entry. Time is kept for the index, so that the machine may be started anew.
func TestShutdownSlowDisk(t *testing.T) {
	t.Parallel()
	harness.SkipUnderRace(t)
	lasts := []time.Duration{8 * time.Second}
	if !testing.Short() {
		lasts = append(lasts, 4*time.Second, 12*time.Second, 9500*time.Millisecond, 10*time.Second)
	}
	for _, d := range lasts {
		t.Run(fmt.Sprint(d), func(t *testing.T) {
			keepers(t, func(t *testing.T, kept bool) {
				s := newClosing(t, kept)
				slow := s.disk.Inject(vfstest.Rule{On: vfstest.OpWrite, Delay: 500 * time.Millisecond})
				left := s.shutdown(t, d)
				if left == nil || !errors.Is(left, context.DeadlineExceeded) || left.Entries == 0 || left.Bytes < left.Entries {
					t.Fatalf("%+v: want what was left, and DeadlineExceeded", left)
				}
				time.Sleep(time.Second) // of the bubble: what was under way ends
				slow.Remove()
				if kept { // the machine goes down
					s.mem = s.mem.CrashClone(rand.New(rand.NewPCG(1, 1)), vfstest.PowerCut)
					s.mem.SetMemory(false)
				}
				all := int(left.Entries) == len(s.want)
				if all && d >= 12*time.Second {
					t.Error("there was no time for the index")
				}
				// The write that makes the index count may have been under way at the deadline: no
				// Shutdown that returns then knows what becomes of it, and all counts as left.
				if found := s.reopened(t, s.mem); found != len(s.want)-int(left.Entries) && !all {
					t.Errorf("%d of %d are found, and %d were said to be left", found, len(s.want), left.Entries)
				}
			})
		})
	}
}

// A Shutdown without any time, or that is cancelled, leaves what a kill leaves.
func TestShutdownAtOnce(t *testing.T) {
	t.Parallel()
	keepers(t, func(t *testing.T, kept bool) {
		s := newClosing(t, kept)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		left := s.shutdownBy(t, ctx, 0)
		if left == nil || !errors.Is(left, context.Canceled) || left.Entries == 0 {
			t.Fatalf("%+v: want what was left, and Canceled", left)
		}
		if int(left.Entries) != len(s.want) {
			t.Errorf("%d of %d are left: want all", left.Entries, len(s.want))
		}
		synctest.Wait() // its files are closed
		if found := s.reopened(t, s.mem); found > 0 != kept {
			t.Errorf("%d of %d are found without a restart of the machine", found, len(s.want))
		}
	})
}

// Row 16: a disk that does nothing does not hold Shutdown up beyond its deadline. The
// directory is locked until it gives back what it has, and nothing more is written then.
func TestFault16Shutdown(t *testing.T) {
	t.Parallel()
	for name, rule := range map[string]vfstest.Rule{
		"writes of the log":      {On: vfstest.OpWrite, Name: "log"},
		"a later write":          {On: vfstest.OpWrite, Name: "log", Skip: 3},
		"the sync":               {On: vfstest.OpSync},
		"the snapshot":           {On: vfstest.OpWrite, Name: "snapshot.new"},
		"the snapshot's name":    {On: vfstest.OpRename},
		"the superblock":         {On: vfstest.OpWrite, Name: "superblock"},
		"the superblock's sync":  {On: vfstest.OpSync, Name: "superblock"},
		"the end of the log":     {On: vfstest.OpClose, Name: "log"},
		"everything":             {On: vfstest.OpAny &^ vfstest.OpClose},
		"everything but a first": {On: vfstest.OpAny &^ vfstest.OpClose, Skip: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			keepers(t, func(t *testing.T, kept bool) {
				s := newClosing(t, kept)
				blocking := rule // which other tests read meanwhile
				blocking.Block = true
				stuck := s.disk.Inject(blocking)
				left := s.shutdown(t, 4*time.Second)
				if left == nil || !errors.Is(left, context.DeadlineExceeded) {
					t.Fatalf("%+v: want what was left, and DeadlineExceeded", left)
				}
				stuck.AwaitBlocked(1)
				if _, err := firn.Open(harness.HybridOptions(s.mem)); !errors.Is(err, firn.ErrLocked) {
					t.Errorf("Open while a write is under way: %v, want ErrLocked", err)
				}
				hits := stuck.Hits()
				stuck.Release()
				synctest.Wait()
				if n := stuck.Hits(); rule.On&vfstest.OpClose == 0 && n != hits {
					t.Errorf("%d more operations began after Shutdown", n-hits)
				}
				stuck.Remove()
				atLeast := len(s.want) - int(left.Entries)
				if found := s.reopened(t, s.mem); found < atLeast {
					t.Errorf("%d of %d are found, and %d were said to be left", found, len(s.want), left.Entries)
				} else {
					t.Logf("%d of %d are found, and %d were said to be left", found, len(s.want), left.Entries)
				}
			})
		})
	}
}

// A disk that fails in the middle is no reason to say nothing.
func TestShutdownOfFailingDisk(t *testing.T) {
	t.Parallel()
	keepers(t, func(t *testing.T, kept bool) {
		s := newClosing(t, kept)
		failing := s.disk.Inject(vfstest.Rule{On: vfstest.OpWrite | vfstest.OpSync, Err: errBroken})
		left := s.shutdown(t, time.Minute)
		if left == nil || !errors.Is(left, errBroken) || left.Entries == 0 {
			t.Fatalf("%+v: want what was left, and %v", left, errBroken)
		}
		failing.Remove()
		s.reopened(t, s.mem)
	})
}

var errBroken = errors.New("broken")

// Whoever ends a cache second waits for the first, as long as its own context lets it.
func TestShutdownBesideAnother(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newClosing(t, true)
		stuck := s.disk.Inject(vfstest.Rule{On: vfstest.OpWrite, Block: true})
		first := make(chan error, 1)
		go func() { first <- s.c.Close() }()
		stuck.AwaitBlocked(1)
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := s.c.Shutdown(short); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v: want DeadlineExceeded", err)
		}
		second := make(chan error, 1)
		go func() { second <- s.c.Shutdown(t.Context()) }()
		synctest.Wait()
		select {
		case err := <-second:
			t.Errorf("the second returned before the first: %v", err)
		default:
		}
		stuck.Remove()
		if err := <-first; err != nil {
			t.Error(err)
		}
		if err := <-second; err != nil {
			t.Error(err)
		}
		if found := s.reopened(t, s.mem); found != len(s.want) {
			t.Errorf("%d of %d are found", found, len(s.want))
		}
	})
}

// RAM alone has nothing to write.
func TestShutdownOfRAM(t *testing.T) {
	c := harness.Open(t, firn.Options{RAMBytes: 1 << 20})
	harness.Set(t, c, []byte("k"), []byte("v"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.Shutdown(ctx); err != nil {
		t.Error(err)
	}
	if c.Has([]byte("k")) {
		t.Error("it is still there")
	}
}

// Once a cache is closed, a later Shutdown is nil, also without any time.
func TestShutdownOfClosed(t *testing.T) {
	c := harness.Open(t, firn.Options{RAMBytes: 1 << 20})
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 100 { // chance may hide it
		if err := c.Shutdown(ctx); err != nil {
			t.Fatal(err)
		}
	}
}
