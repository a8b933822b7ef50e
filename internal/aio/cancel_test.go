package aio

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

// TestContextEnds: a call leaves a stuck disk at once; its queued reads are
// forgotten, and those in flight keep their slots and buffers until they are back.
func TestContextEnds(t *testing.T) {
	inModes(t, func(t *testing.T, mode Mode) {
		f, release := newPipe(t)
		r := open(t, Config{File: f, Mode: mode, Depth: 2})
		ctx, cancel := context.WithCancel(context.Background())
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				reqs := []Request{{N: 8}, {N: 8}}
				r.ReadMany(ctx, reqs)
				for _, q := range reqs {
					if q.Buf != nil || !errors.Is(q.Err, context.Canceled) {
						t.Errorf("%+v: want the context's error", q)
					}
				}
			})
		}
		eventually(t, "two reads are in flight and four queued", func() bool {
			s := r.Stats()
			return s.InFlight == 2 && s.Queued == 4
		})
		cancel()
		wg.Wait()
		if s := r.Stats(); s.InFlight != 2 || s.Abandoned != 2 || s.Queued != 0 || inUse(r) != 2 {
			t.Fatalf("%+v, %d buffers in use: want two abandoned", s, inUse(r))
		}
		if _, err := r.Read(ctx, 0, 8); !errors.Is(err, context.Canceled) {
			t.Errorf("%v from a call whose context had ended before", err)
		}

		got := make(chan error)
		go func() {
			buf, err := r.Read(context.Background(), 0, 8)
			buf.Release()
			got <- err
		}()
		eventually(t, "the next read is queued", func() bool { return r.Stats().Queued == 1 })
		release(24)
		if err := <-got; err != nil {
			t.Error(err)
		}
		eventually(t, "all reads are back", func() bool { s := r.Stats(); return s.InFlight == 0 && s.Abandoned == 0 })
	})
}

// TestContextEndsAlone: a read done by pread does not hold its call either.
func TestContextEndsAlone(t *testing.T) {
	inModes(t, func(t *testing.T, mode Mode) {
		f, release := newPipe(t)
		r := open(t, Config{File: f, Mode: mode})
		slow(r)
		release(8 * (soloReads + 1))
		for range soloReads + 1 {
			ctx, cancel := context.WithCancel(context.Background())
			buf, err := r.Read(ctx, 0, 8)
			if err != nil {
				t.Fatal(err)
			}
			buf.Release()
			cancel()
		}
		before := f.reads.Load()
		ctx, cancel := context.WithCancel(context.Background())
		got := make(chan error)
		go func() {
			_, err := r.Read(ctx, 0, 8)
			got <- err
		}()
		eventually(t, "the read hangs in the file's method", func() bool { return f.reads.Load() == before+1 })
		cancel()
		if err := <-got; !errors.Is(err, context.Canceled) {
			t.Errorf("%v: want the context's error", err)
		}
		release(8)
		eventually(t, "it is back", func() bool { return r.Stats().InFlight == 0 })
	})
}

func inUse(r *Reader) (n int) {
	for _, s := range r.pool.Stats() {
		n += s.InUse
	}
	return n
}

// TestCancelUnderLoad: contexts end at any moment of a read, and every answer is
// the file's bytes or the context's error.
func TestCancelUnderLoad(t *testing.T) {
	const size = 1 << 20
	inModes(t, func(t *testing.T, mode Mode) {
		f := newFile(t, size)
		if mode == Pread {
			f.hook = func([]byte, int64) (int, error, bool) {
				runtime.Gosched() // contexts end meanwhile
				return 0, nil, false
			}
		}
		r := open(t, Config{File: f, Mode: mode, Depth: 16})
		var whole atomic.Int64
		var wg sync.WaitGroup
		for i := range uint64(32) {
			wg.Go(func() {
				rand := rand.New(rand.NewPCG(i, 1))
				for range 50 {
					ctx, cancel := context.WithCancel(context.Background())
					turns := rand.IntN(20)
					wg.Go(func() {
						for range turns {
							runtime.Gosched()
						}
						cancel()
					})
					reqs := make([]Request, 1+rand.IntN(8))
					for i := range reqs {
						reqs[i] = Request{Off: rand.Int64N(size - 8192), N: 1 + rand.IntN(8192)}
					}
					r.ReadMany(ctx, reqs)
					for _, q := range reqs {
						if !errors.Is(q.Err, context.Canceled) {
							whole.Add(1)
							check(t, q)
						} else if q.Buf != nil {
							t.Error("a buffer beside an error")
						}
					}
				}
			})
		}
		wg.Wait()
		t.Logf("%d reads ended before their contexts, of %d", whole.Load(), r.Stats().Reads)
	})
}
