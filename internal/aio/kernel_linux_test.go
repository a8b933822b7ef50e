package aio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// TestShortKernel: a kernel that is short of something is asked again.
func TestShortKernel(t *testing.T) {
	inRings(t, func(t *testing.T, mode Mode) {
		refusals := 0
		r := openAltered(t, newFile(t, 4096), mode, 4, &altered{submit: func() error {
			if refusals == 3 {
				return nil
			}
			refusals++
			return fmt.Errorf("refused: %w", []error{unix.EAGAIN, unix.EBUSY, unix.ENOMEM}[refusals-1])
		}})
		reqs := []Request{{N: 4096}, {N: 10}}
		r.ReadMany(context.Background(), reqs)
		check(t, reqs[0])
		check(t, reqs[1])
		if name := r.Stats().Mode; refusals != 3 || name != modeNames[mode] {
			t.Errorf("%d refusals, mode %q", refusals, name)
		}
	})
}

// TestBrokenQueue: when the kernel takes no more reads, what it has comes back,
// and preads do the rest.
func TestBrokenQueue(t *testing.T) {
	inRings(t, func(t *testing.T, mode Mode) {
		var submits atomic.Int64
		r := openAltered(t, newFile(t, 1<<20), mode, 4, &altered{submit: func() error {
			if submits.Add(1) > 50 {
				return unix.EPERM
			}
			return nil
		}})
		var wg sync.WaitGroup
		for i := range 16 {
			wg.Go(func() {
				for j := range 50 {
					reqs := []Request{{Off: int64(i * 4096), N: 4096}, {Off: int64(j * 4096), N: 100}}
					r.ReadMany(context.Background(), reqs)
					check(t, reqs[0])
					check(t, reqs[1])
				}
			})
		}
		wg.Wait()
		if s := r.Stats(); s.Mode != "pread" || s.Errors != 0 || submits.Load() != 51 {
			t.Errorf("mode %q, %d errors after %d submissions: want preads after 51", s.Mode, s.Errors, submits.Load())
		}
	})
}

// TestShortReadsGoOn: where the kernel reads less than was asked for, it is asked
// for the rest.
func TestShortReadsGoOn(t *testing.T) {
	inRings(t, func(t *testing.T, mode Mode) {
		f := newFile(t, 100_000)
		r := openAltered(t, f, mode, 2, &altered{most: 4096})
		reqs := []Request{{Off: 5, N: 50_000}, {N: 100_000}, {N: 4096}, {Off: 90_000, N: 20_000}}
		r.ReadMany(context.Background(), reqs)
		for _, q := range reqs[:3] {
			check(t, q)
		}
		if q := reqs[3]; q.Buf != nil || !errors.Is(q.Err, io.ErrUnexpectedEOF) {
			t.Errorf("%d bytes at %d: %v, want the end of the file", q.N, q.Off, q.Err)
		}
		if n := f.reads.Load(); n != 0 {
			t.Errorf("%d reads by the file's method", n)
		}
	})
}

// TestUndone: what the kernel gives back without having read is done by a pread.
func TestUndone(t *testing.T) {
	inRings(t, func(t *testing.T, mode Mode) {
		for _, errno := range []unix.Errno{unix.EINTR, unix.EAGAIN, unix.ECANCELED} {
			f := newFile(t, 1<<20)
			r := openAltered(t, f, mode, 8, &altered{result: func(int32) int32 { return -int32(errno) }})
			reqs := make([]Request, 100)
			for i := range reqs {
				reqs[i] = Request{Off: int64(i) * 4096, N: 5000}
			}
			r.ReadMany(context.Background(), reqs)
			for _, q := range reqs {
				check(t, q)
			}
			if s := r.Stats(); s.Mode != modeNames[mode] || s.Errors != 0 || f.reads.Load() != 100 {
				t.Errorf("%v: mode %q, %d errors, %d of 100 by the file's method", errno, s.Mode, s.Errors, f.reads.Load())
			}
		}
	})
}

// TestErrorOfTheDisk reaches the caller, and costs no buffer.
func TestErrorOfTheDisk(t *testing.T) {
	inRings(t, func(t *testing.T, mode Mode) {
		r := openAltered(t, newFile(t, 4096), mode, 1, &altered{result: func(int32) int32 { return -int32(unix.EIO) }})
		if buf, err := r.Read(t.Context(), 0, 4096); buf != nil || !errors.Is(err, unix.EIO) {
			t.Errorf("buffer: %v, %v: want EIO", buf != nil, err)
		}
		if s := r.Stats(); s.Errors != 1 || s.Mode != modeNames[mode] || inUse(r) != 0 {
			t.Errorf("%d errors, mode %q, %d buffers in use", s.Errors, s.Mode, inUse(r))
		}
	})
}

// TestKernelKeepsItsMemory: what a read is written to is not used for another, nor
// is the queue closed, before the kernel has given the read back, whoever leaves.
func TestKernelKeepsItsMemory(t *testing.T) {
	inRings(t, func(t *testing.T, mode Mode) {
		var written *byte
		a := &altered{
			stuck: func(off int64) bool { return off == 0 },
			pushed: func(mem []byte, off int64) {
				if off == 0 {
					written = unsafe.SliceData(mem)
				}
			},
		}
		r, err := Open(Config{File: newFile(t, 1<<20), Mode: Pread, Depth: 4, Patience: time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		alter(t, r, mode, a)
		ctx, cancel := context.WithCancel(context.Background())
		left := make(chan error)
		go func() {
			_, err := r.Read(ctx, 0, 4096)
			left <- err
		}()
		eventually(t, "the read is in flight", func() bool { return r.Stats().InFlight == 1 })
		cancel()
		if err := <-left; !errors.Is(err, context.Canceled) {
			t.Errorf("%v: want the context's error", err)
		}
		reqs := make([]Request, 20)
		for range 20 {
			for i := range reqs {
				reqs[i] = Request{Off: 4096 * (1 + rand.Int64N(200)), N: 4096}
			}
			r.ReadMany(context.Background(), reqs)
			for _, q := range reqs {
				if q.Err == nil && unsafe.SliceData(q.Buf.Bytes()) == written {
					t.Fatal("a buffer was lent that the kernel may still write to")
				}
				check(t, q)
			}
		}
		if err := r.Close(); !errors.Is(err, ErrStuck) {
			t.Errorf("%v: want ErrStuck", err)
		}
		if s := r.Stats(); s.InFlight != 1 || s.Abandoned != 1 || inUse(r) != 1 || a.isClosed() {
			t.Errorf("%d in flight, %d abandoned, %d buffers in use, queue closed: %v", s.InFlight, s.Abandoned, inUse(r), a.isClosed())
		}
		a.release(t)
		eventually(t, "all is given up", func() bool { return inUse(r) == 0 && a.isClosed() })
	})
}

// TestSubmitWaits: where handing a read over may wait, it holds no caller, nor
// Close.
func TestSubmitWaits(t *testing.T) {
	inRings(t, func(t *testing.T, mode Mode) {
		entered, leave := make(chan struct{}), make(chan struct{})
		a := &altered{waits: true, submit: func() error {
			select {
			case entered <- struct{}{}:
				<-leave
			default:
			}
			return nil
		}}
		r, err := Open(Config{File: newFile(t, 1<<20), Mode: Pread, Depth: 4, Patience: time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		alter(t, r, mode, a)
		ctx, cancel := context.WithCancel(context.Background())
		var wg sync.WaitGroup
		wg.Go(func() {
			reqs := make([]Request, 2)
			for ctx.Err() == nil {
				reqs[0], reqs[1] = Request{N: 4096}, Request{Off: 4096, N: 4096}
				r.ReadMany(ctx, reqs)
				for _, q := range reqs {
					if !errors.Is(q.Err, context.Canceled) {
						check(t, q)
					}
				}
			}
		})
		<-entered
		eventually(t, "two reads are in flight", func() bool { return r.Stats().InFlight == 2 })
		cancel()
		wg.Wait()
		left := []Request{{Off: 8192, N: 4096}, {Off: 5, N: 10}}
		wg.Go(func() { r.ReadMany(context.Background(), left) })
		eventually(t, "two more are", func() bool { return r.Stats().InFlight == 4 })
		if err := r.Close(); !errors.Is(err, ErrStuck) {
			t.Errorf("%v: want ErrStuck", err)
		}
		close(leave)
		wg.Wait()
		check(t, left[0])
		check(t, left[1])
		eventually(t, "all is given up", func() bool { return inUse(r) == 0 && a.isClosed() })
	})
}

// TestCloseWhileSubmitting: nothing is freed under those who hand reads over.
func TestCloseWhileSubmitting(t *testing.T) {
	inRings(t, func(t *testing.T, mode Mode) {
		f := newFile(t, 1<<20)
		for range 3 {
			r := openAltered(t, f, mode, 8, &altered{waits: true})
			var wg sync.WaitGroup
			for i := range int64(8) {
				wg.Go(func() {
					reqs := make([]Request, 2)
					for !errors.Is(reqs[1].Err, ErrClosed) {
						reqs[0], reqs[1] = Request{Off: i * 4096, N: 4096}, Request{Off: i, N: 100}
						r.ReadMany(context.Background(), reqs)
						for _, q := range reqs {
							if !errors.Is(q.Err, ErrClosed) {
								check(t, q)
							}
						}
					}
				})
			}
			eventually(t, "reads are under way", func() bool { return r.Stats().Reads > 100 })
			if err := r.Close(); err != nil {
				t.Error(err)
			}
			wg.Wait()
		}
	})
}

// TestQueueHoldsTheFile: a read that a Close left behind goes on in its own file,
// also when the descriptor has become another's.
func TestQueueHoldsTheFile(t *testing.T) {
	inRings(t, func(t *testing.T, mode Mode) {
		f := newFile(t, 1<<20)
		a := &altered{most: 4096, stuck: func(int64) bool { return true }}
		r, err := Open(Config{File: f, Mode: Pread, Patience: time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		alter(t, r, mode, a)
		reqs := []Request{{N: 8192}, {Off: 8192, N: 8192}}
		var wg sync.WaitGroup
		wg.Go(func() { r.ReadMany(context.Background(), reqs) })
		eventually(t, "the reads are in flight", func() bool { return r.Stats().InFlight == 2 })
		if err := r.Close(); !errors.Is(err, ErrStuck) {
			t.Errorf("%v: want ErrStuck", err)
		}
		if err := unix.Dup3(int(zeros(t).Fd()), int(f.f.Fd()), unix.O_CLOEXEC); err != nil {
			t.Fatal(err)
		}
		a.release(t)
		wg.Wait()
		check(t, reqs[0])
		check(t, reqs[1])
		eventually(t, "the queue is closed", a.isClosed)
	})
}

// zeros is a file of nothing else.
func zeros(t *testing.T) *os.File {
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	if _, err := f.Write(make([]byte, 1<<20)); err != nil {
		t.Fatal(err)
	}
	return f
}

// TestDirectIO: reads past the page cache, through the kernel's queue, and over the
// end of a file that is not a multiple of blocks.
func TestDirectIO(t *testing.T) {
	const size = 1<<20 - 100
	inModes(t, func(t *testing.T, mode Mode) {
		f := newDirectFile(t, size)
		align := int64(f.Align())
		var came atomic.Int64
		r := open(t, Config{File: f, Mode: Pread, Depth: 64})
		if mode != Pread {
			alter(t, r, mode, &altered{result: func(res int32) int32 {
				if res > 0 {
					came.Add(1)
				}
				return res
			}})
		}
		var wg sync.WaitGroup
		for i := range uint64(64) {
			wg.Go(func() {
				rand := rand.New(rand.NewPCG(i, 1))
				reqs := make([]Request, 1+i%8)
				for range 8 {
					for j := range reqs {
						n := align * (1 + rand.Int64N(4))
						reqs[j] = Request{Off: rand.Int64N((size-n)/align) * align, N: int(n)}
					}
					r.ReadMany(context.Background(), reqs)
					for _, q := range reqs {
						check(t, q)
					}
				}
			})
		}
		wg.Wait()
		end := size / align * align
		ends := []Request{{Off: end, N: int(align)}, {Off: end - align, N: int(2 * align)}, {Off: 4 << 20, N: int(align)}}
		r.ReadMany(context.Background(), ends)
		for _, q := range ends {
			if q.Buf != nil || !errors.Is(q.Err, io.ErrUnexpectedEOF) {
				t.Errorf("%d bytes at %d: %v, want the end of the file", q.N, q.Off, q.Err)
			}
		}
		if mode != Pread && came.Load() == 0 {
			t.Error("no read came through the kernel's queue")
		}
	})
}
