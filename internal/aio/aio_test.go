package aio

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

var modeNames = map[Mode]string{Pread: "pread", Ring: "io_uring", LibAIO: "libaio"}

// inModes runs a test with each engine that the machine has.
func inModes(t *testing.T, test func(t *testing.T, mode Mode)) {
	for mode, name := range modeNames {
		t.Run(name, func(t *testing.T) {
			if available(t, mode) {
				test(t, mode)
			}
		})
	}
}

// available reports whether the machine has an engine, and says why not.
func available(t *testing.T, mode Mode) bool {
	t.Helper()
	r, err := Open(Config{File: newFile(t, 1), Mode: mode})
	if err != nil {
		t.Logf("nothing was tested: %v", err)
		return false
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return true
}

// open opens a reader whose pool is seen empty, and whose goroutines are seen
// gone, when the test ends.
func open(t testing.TB, cfg Config) *Reader {
	t.Helper()
	before := runtime.NumGoroutine()
	r, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		for _, s := range r.pool.Stats() {
			if s.InUse != 0 || s.Leaked != 0 {
				t.Errorf("%d buffers of %d bytes are in use after Close, %d were forgotten", s.InUse, s.Size, s.Leaked)
			}
		}
		if s := r.Stats(); s.InFlight != 0 || s.Queued != 0 || s.Abandoned != 0 {
			t.Errorf("after Close: %+v", s)
		}
		eventually(t, "its goroutines end", func() bool { return runtime.NumGoroutine() <= before })
	})
	return r
}

// eventually waits for what another goroutine, or the kernel, is bound to do. It
// gives up only where they never will: no machine takes a minute for it.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !ok(); time.Sleep(100 * time.Microsecond) {
		if time.Now().After(deadline) {
			t.Errorf("after a minute it is not so that %s", what)
			return
		}
	}
}

func check(t testing.TB, q Request) {
	t.Helper()
	if q.Err != nil {
		t.Errorf("%d bytes at %d: %v", q.N, q.Off, q.Err)
		return
	}
	if !bytes.Equal(q.Buf.Bytes(), content[q.Off:q.Off+int64(q.N)]) {
		t.Errorf("%d bytes at %d are not the file's", q.N, q.Off)
	}
	q.Buf.Release()
}

// TestRead reads everywhere, alone and from thousands of goroutines, with one
// slot and with many, with contexts that can end and that cannot.
func TestRead(t *testing.T) {
	const size = 1 << 20
	cancellable, cancel := context.WithCancel(context.Background())
	defer cancel()
	for _, depth := range []int{1, 3, 0} {
		for name, ctx := range map[string]context.Context{"patient": context.Background(), "cancellable": cancellable} {
			t.Run(fmt.Sprintf("%s, depth %d", name, depth), func(t *testing.T) {
				inModes(t, func(t *testing.T, mode Mode) {
					r := open(t, Config{File: newFile(t, size), Mode: mode, Depth: depth})
					read := func(off int64, n int) {
						buf, err := r.Read(ctx, off, n)
						check(t, Request{Off: off, N: n, Buf: buf, Err: err})
					}
					read(0, 1)
					read(0, size)
					read(size-1, 1)
					var wg sync.WaitGroup
					for i := range uint64(2000) {
						wg.Go(func() {
							rand := rand.New(rand.NewPCG(i, 1))
							off := rand.Int64N(size)
							read(off, 1+rand.IntN(min(size-int(off), 9000)))
						})
					}
					wg.Wait()
					s := r.Stats()
					if s.Reads != 2003 || s.Errors != 0 || s.Latency.Count() != 2003 || s.Bytes < size+2 {
						t.Errorf("%+v", s)
					}
				})
			})
		}
	}
}

// TestReadMany mixes good and bad requests, more than there are slots.
func TestReadMany(t *testing.T) {
	const size = 1 << 20
	cancellable, cancel := context.WithCancel(context.Background())
	defer cancel()
	inModes(t, func(t *testing.T, mode Mode) {
		f := newFile(t, size)
		f.align = 512
		r := open(t, Config{File: f, Mode: mode, Depth: 8})
		many := func(ctx context.Context) {
			reqs := make([]Request, 100)
			for i := range reqs {
				reqs[i] = Request{Off: 512 * rand.Int64N(size/512-8), N: 512 * (1 + rand.IntN(8)), Err: errDisk}
			}
			reqs[10].Off++
			reqs[20].N++
			reqs[30].N = 0
			reqs[40].Off = -512
			reqs[50].Off = size - 512
			reqs[50].N = 1024
			reqs[60].Off = 2 * size
			reqs[70].N = 1<<30 + 512
			r.ReadMany(ctx, reqs)
			for i, q := range reqs {
				switch i {
				case 10, 20, 30, 40, 70:
					if q.Buf != nil || q.Err == nil || !strings.Contains(q.Err.Error(), "want a multiple of 512") {
						t.Errorf("%+v: want to be told of the alignment", q)
					}
				case 50, 60:
					if q.Buf != nil || !errors.Is(q.Err, io.ErrUnexpectedEOF) {
						t.Errorf("%+v: want the end of the file", q)
					}
				default:
					check(t, q)
				}
			}
		}
		var wg sync.WaitGroup
		for i := range 50 {
			wg.Go(func() { many([]context.Context{context.Background(), cancellable}[i%2]) })
		}
		wg.Wait()
		r.ReadMany(context.Background(), nil)
		bad := []Request{{Off: 1, N: 512}}
		r.ReadMany(context.Background(), bad)
		if bad[0].Err == nil {
			t.Error("a call of bad requests only has no error")
		}
	})
}

// slow has a reader take its disk for a slow one, for which callers do not collect.
func slow(r *Reader) {
	r.mu.Lock()
	r.usual = math.MaxInt64 / 2
	r.mu.Unlock()
}

// TestAlone: who reads alone from a slow disk soon does so by pread, with a context that can end
// and with one that cannot, and no longer when there is company.
func TestAlone(t *testing.T) {
	cancellable, cancel := context.WithCancel(context.Background())
	defer cancel()
	for name, ctx := range map[string]context.Context{"patient": context.Background(), "cancellable": cancellable} {
		t.Run(name, func(t *testing.T) {
			inModes(t, func(t *testing.T, mode Mode) {
				f := newFile(t, 4096)
				r := open(t, Config{File: f, Mode: mode})
				slow(r)
				for range 10 {
					buf, err := r.Read(ctx, 0, 4096)
					check(t, Request{N: 4096, Buf: buf, Err: err})
				}
				byMethod := map[Mode]int64{Pread: 10, Ring: 10 - soloReads, LibAIO: 10 - soloReads}[mode]
				if n := f.reads.Load(); n != byMethod {
					t.Errorf("%d reads of 10 by the file's method, want %d", n, byMethod)
				}
				reqs := []Request{{N: 1}, {N: 2}}
				r.ReadMany(ctx, reqs)
				check(t, reqs[0])
				check(t, reqs[1])
				if n := f.reads.Load(); mode != Pread && n != byMethod {
					t.Errorf("a call of two reads was not the engine's")
				}
			})
		})
	}
}

// TestNothingAllocated, once the pools are filled.
func TestNothingAllocated(t *testing.T) {
	if allocatingBuild {
		t.Log("this build allocates to find faults: nothing was measured")
		return
	}
	cancellable, cancel := context.WithCancel(context.Background())
	defer cancel()
	for name, ctx := range map[string]context.Context{"patient": context.Background(), "cancellable": cancellable} {
		t.Run(name, func(t *testing.T) {
			inModes(t, func(t *testing.T, mode Mode) {
				r := open(t, Config{File: newFile(t, 1<<20), Mode: mode, Depth: 4})
				reqs := make([]Request, 16)
				allocs := testing.AllocsPerRun(200, func() {
					for i := range reqs {
						reqs[i] = Request{Off: int64(i) * 5000, N: 4096}
					}
					r.ReadMany(ctx, reqs)
					for i := range reqs {
						reqs[i].Buf.Release()
					}
					buf, _ := r.Read(ctx, 0, 4096)
					buf.Release()
				})
				if allocs != 0 {
					t.Errorf("%v allocations in a ReadMany of 16 and a Read", allocs)
				}
			})
		})
	}
}

// TestMemory: idle buffers stay within PoolBytes, and Bytes counts them.
func TestMemory(t *testing.T) {
	const size, kept = 1 << 20, 256 << 10
	inModes(t, func(t *testing.T, mode Mode) {
		r := open(t, Config{File: newFile(t, size), Mode: mode, PoolBytes: kept})
		none := r.Bytes()
		reqs := make([]Request, 64)
		for i := range reqs {
			reqs[i] = Request{N: 4096 * (1 + i)}
		}
		r.ReadMany(context.Background(), reqs)
		if held := r.Bytes(); held < none+4096*64*65/2 {
			t.Errorf("%d bytes while buffers are lent, %d before", held, none)
		}
		for _, q := range reqs {
			check(t, q)
		}
		if idle := r.Bytes() - none; idle <= 0 || idle > kept {
			t.Errorf("%d bytes idle, want some and at most %d", idle, kept)
		}
	})
}

// TestHiddenDescriptor: a file without a descriptor is read by its method.
func TestHiddenDescriptor(t *testing.T) {
	f := newFile(t, 4096)
	f.hidden = true
	r := open(t, Config{File: f})
	buf, err := r.Read(context.Background(), 0, 4096)
	check(t, Request{N: 4096, Buf: buf, Err: err})
	if mode := r.Stats().Mode; mode != "pread" || f.reads.Load() != 1 {
		t.Errorf("mode %q, %d reads by method", mode, f.reads.Load())
	}
	for _, mode := range []Mode{Ring, LibAIO} {
		if _, err := Open(Config{File: f, Mode: mode}); err == nil {
			t.Errorf("%s was opened for it", modeNames[mode])
		}
	}
}

func TestErrorOfTheFile(t *testing.T) {
	f := newFile(t, 4096)
	f.hook = func(p []byte, off int64) (int, error, bool) { return 1, errDisk, true }
	r := open(t, Config{File: f, Mode: Pread})
	if buf, err := r.Read(t.Context(), 0, 100); buf != nil || !errors.Is(err, errDisk) || !strings.Contains(err.Error(), "100 bytes at 0") {
		t.Errorf("%v, %v", buf, err)
	}
	if s := r.Stats(); s.Errors != 1 || s.Bytes != 0 {
		t.Errorf("%+v", s)
	}
}

// TestConfig: an option that cannot be is refused by name.
func TestConfig(t *testing.T) {
	f := newFile(t, 1)
	odd := newFile(t, 1)
	odd.align = 8192
	for want, cfg := range map[string]Config{
		"Config.File is nil":         {},
		"alignment 8192":             {File: odd},
		"Config.Depth is -1":         {File: f, Depth: -1},
		"Config.Depth is 4097":       {File: f, Depth: 4097},
		"Config.Mode is 7":           {File: f, Mode: 7},
		"Config.PoolBytes is -1":     {File: f, PoolBytes: -1},
		"Config.Patience is -1ns: w": {File: f, Patience: -1},
	} {
		if r, err := Open(cfg); r != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: want an error that says %q", err, want)
		}
	}
}
