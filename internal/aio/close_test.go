package aio

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

// TestCloseUnderLoad: reads end well or with ErrClosed, and Close may be called
// by several at once.
func TestCloseUnderLoad(t *testing.T) {
	const size = 1 << 20
	inModes(t, func(t *testing.T, mode Mode) {
		for range 20 {
			r := open(t, Config{File: newFile(t, size), Mode: mode, Depth: 4})
			var wg sync.WaitGroup
			for i := range uint64(16) {
				wg.Go(func() {
					rand := rand.New(rand.NewPCG(i, 1))
					for {
						reqs := []Request{{Off: rand.Int64N(size - 4096), N: 4096}, {Off: rand.Int64N(size - 4096), N: 4096}}
						r.ReadMany(context.Background(), reqs)
						for _, q := range reqs {
							if !errors.Is(q.Err, ErrClosed) {
								check(t, q)
							}
						}
						if errors.Is(reqs[1].Err, ErrClosed) {
							return
						}
					}
				})
			}
			eventually(t, "reads are under way", func() bool { return r.Stats().Reads > 10 })
			for range 2 {
				wg.Go(func() {
					if err := r.Close(); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			if _, err := r.Read(context.Background(), 0, 1); !errors.Is(err, ErrClosed) {
				t.Errorf("after Close: %v", err)
			}
		}
	})
}

// TestCloseOfAStuckDisk: Close gives up, and frees nothing that the system
// still has; what comes back later still reaches its call.
func TestCloseOfAStuckDisk(t *testing.T) {
	inModes(t, func(t *testing.T, mode Mode) {
		f, release := newPipe(t)
		r, err := Open(Config{File: f, Mode: mode, Depth: 2, Patience: time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		gone := make(chan struct{})
		go func() {
			r.Read(ctx, 0, 8)
			close(gone)
		}()
		eventually(t, "the first read is in flight", func() bool { return r.Stats().InFlight == 1 })
		reqs := make([]Request, 2)
		var wg sync.WaitGroup
		wg.Go(func() {
			reqs[0], reqs[1] = Request{N: 8}, Request{N: 8}
			r.ReadMany(context.Background(), reqs)
		})
		eventually(t, "the second is in flight and the third queued", func() bool { s := r.Stats(); return s.InFlight == 2 && s.Queued == 1 })
		cancel()
		<-gone
		for range 2 {
			if err := r.Close(); !errors.Is(err, ErrStuck) {
				t.Errorf("%v: want ErrStuck", err)
			}
		}
		if s := r.Stats(); s.InFlight != 2 || s.Abandoned != 1 || s.Queued != 0 || inUse(r) != 2 {
			t.Errorf("after Close %+v, %d buffers in use", s, inUse(r))
		}
		release(16)
		wg.Wait()
		if reqs[0].Err != nil || !errors.Is(reqs[1].Err, ErrClosed) {
			t.Errorf("%v, %v: want the bytes and ErrClosed", reqs[0].Err, reqs[1].Err)
		}
		reqs[0].Buf.Release()
		eventually(t, "all is back", func() bool { return r.Stats().InFlight == 0 && inUse(r) == 0 })
	})
}
