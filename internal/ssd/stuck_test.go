package ssd

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/vfs"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// hurried is a tier that waits for a disk that does nothing for a moment only.
func hurried(fs vfs.FS, w *world) Config {
	cfg := testConfig(fs, w)
	cfg.Patience = 20 * time.Millisecond
	return cfg
}

// Row 16: writes of the log are stuck. Reads of what is in memory, writes and
// demotions go on, what is demoted is bounded, and Close does not wait for ever.
func TestFault16StuckWrites(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 500
		w := newWorld(t, 1)
		mem := vfstest.NewMem()
		f := vfstest.NewFaulty(mem)
		w.reopen(t, hurried(f, w))
		stuck := f.Inject(vfstest.Rule{On: vfstest.OpWrite, Name: format.LogName, Block: true})
		taken := 0
		for i := range keys {
			w.set(w.key(i), 0)
			if w.demote(w.key(i)) {
				taken++
			}
		}
		s := w.tier.Stats()
		if s.Shed == 0 || taken == 0 {
			t.Fatalf("%d demoted, %d shed: want both", taken, s.Shed)
		}
		if most := uint64(segmentBuffers * format.MinSegment); s.DemotedBytes > most {
			t.Fatalf("%d bytes demoted: want no more than the buffers, %d", s.DemotedBytes, most)
		}
		w.check(t, keys, true)
		if w.tier.WaitRoom() {
			t.Fatal("WaitRoom says that there is room")
		}
		if err := w.tier.Close(); !errors.Is(err, errStalled) {
			t.Fatalf("Close: %v, want that the disk is stuck", err)
		}
		w.checkKilled(t, mem, testConfig, keys, false)
		stuck.Remove()
	})
}

// Row 16: a read that is stuck ends with its context; others, of what is in
// memory, are not held up.
func TestFault16StuckReads(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, 1)
		f := vfstest.NewFaulty(vfstest.NewMem())
		w.reopen(t, testConfig(f, w))
		for i := range 20 {
			w.put(t, w.key(i))
		}
		w.close(t)
		w.reopen(t, testConfig(f, w))
		w.put(t, w.key(100))
		stuck := f.Inject(vfstest.Rule{On: vfstest.OpRead, Name: format.LogName, Block: true})
		ctx, cancel := context.WithCancel(context.Background())
		var group sync.WaitGroup
		for i := range 10 {
			group.Go(func() {
				_, err := w.tier.Get(ctx, nil, w.key(i), w.hasher.Hash(w.key(i)))
				if !errors.Is(err, context.Canceled) {
					t.Errorf("Get: %v, want Canceled", err)
				}
			})
		}
		group.Go(func() {
			many := Many{}
			for i := 10; i < 20; i++ {
				many.Queries = append(many.Queries, Query{Key: w.key(i), Hash: w.hasher.Hash(w.key(i))})
			}
			w.tier.GetMany(ctx, &many, func(_ int, _ Found, err error) {
				if !errors.Is(err, context.Canceled) {
					t.Errorf("GetMany: %v, want Canceled", err)
				}
			})
		})
		stuck.AwaitBlocked(20)
		if _, err := w.tier.Get(context.Background(), nil, w.key(100), w.hasher.Hash(w.key(100))); err != nil {
			t.Fatal(err)
		}
		w.delete(w.key(1)) // its read must not find it any more
		cancel()
		group.Wait()
		if s := w.tier.Stats(); s.ReadErrors != 0 || !s.On {
			t.Fatalf("what the caller gave up counts as an error of the disk: %+v", s)
		}
		stuck.Remove()
		w.close(t)
	})
}

// Row 16, 32: wherever an operation is stuck, Close comes back.
func TestFault16CloseComesBack(t *testing.T) {
	t.Parallel()
	const keys = 200
	for name, rule := range map[string]vfstest.Rule{
		"writes of the log": {On: vfstest.OpWrite, Name: format.LogName},
		"reads":             {On: vfstest.OpRead, Name: format.LogName},
	} {
		inBubble(t, name, func(t *testing.T) {
			w := newWorld(t, 1)
			mem := vfstest.NewMem()
			f := vfstest.NewFaulty(mem)
			w.reopen(t, testConfig(f, w))
			w.steps(t, 1000, keys)
			w.close(t)
			w.reopen(t, hurried(f, w))
			rule.Block = true
			stuck := f.Inject(rule)
			var group sync.WaitGroup
			for g := range 4 { // they end when the disk goes on
				group.Go(func() {
					for i := range keys / 4 {
						key := w.key(g*keys/4 + i)
						h := w.hasher.Hash(key)
						_, _ = w.tier.Get(context.Background(), nil, key, h)
						w.tier.Demote(h, key, w.bytesOf(key, 1, 2000), 0, true, true)
						w.tier.Superseded(h)
					}
				})
			}
			stuck.AwaitBlocked(1)
			_ = w.tier.Close()
			stuck.Remove()
			group.Wait()
			h := w.killed(t, mem, testConfig)
			h.close(t)
		})
	}
}

// Row 16: a slow disk makes nothing wrong.
func TestFault16Slow(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 100
		w := newWorld(t, 1)
		mem := vfstest.NewMem()
		f := vfstest.NewFaulty(mem)
		w.reopen(t, smallConfig(f, w))
		f.Inject(vfstest.Rule{On: vfstest.OpRead | vfstest.OpWrite, Name: format.LogName, Delay: 2 * time.Millisecond})
		w.steps(t, 1000, keys)
		w.checkKilled(t, mem, smallConfig, keys, false)
		w.close(t)
	})
}

// Row 32: every call after Close is safe and finds nothing.
func TestFault32AfterClose(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, 1)
		w.reopen(t, testConfig(vfstest.NewMem(), w))
		w.put(t, w.key(1))
		h := w.hasher.Hash(w.key(1))
		if err := w.tier.Close(); err != nil {
			t.Fatal(err)
		}
		if err := w.tier.Close(); err != nil {
			t.Fatalf("second Close: %v", err)
		}
		if _, err := w.tier.Get(context.Background(), nil, w.key(1), h); !errors.Is(err, ErrNotFound) {
			t.Fatalf("Get: %v, want ErrNotFound", err)
		}
		if w.tier.Demote(h, w.key(1), []byte("value"), 0, true, true) || w.tier.Holds(h, 1) || w.tier.WaitRoom() || w.tier.Len() != 0 {
			t.Fatal("something works after Close")
		}
		w.tier.Superseded(h)
		w.ready()
		w.tier.Clear()
		w.tier.All(func(uint64, []byte, []byte) bool {
			t.Fatal("All yields after Close")
			return false
		})
		_ = w.tier.Stats()
		w.tier.Free()
	})
}

// Row 32: Close comes while everything is in use.
func TestFault32CloseUnderLoad(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 200
		for seed := range uint64(sized(2, 5)) {
			w := newWorld(t, seed)
			mem := vfstest.NewMem()
			w.reopen(t, smallConfig(mem, w))
			var group sync.WaitGroup
			stop := make(chan struct{})
			for g := range 4 {
				group.Go(func() { // each its own keys, so that their order is known
					h := w.heir()
					h.tier, h.hasher = w.tier, w.hasher
					for i := 0; ; i++ {
						select {
						case <-stop:
							return
						default:
						}
						key := w.key(i%(keys/4)*4 + g)
						h.set(key, 0)
						h.demote(key)
						if err := h.get(key); err != nil {
							t.Error(err)
							return
						}
					}
				})
			}
			for w.tier.Stats().Demoted < 500 {
				runtime.Gosched()
			}
			group.Go(func() { w.tier.Clear() })
			if err := w.tier.Close(); err != nil {
				t.Fatal(err)
			}
			close(stop)
			group.Wait()
			w.tier.Free()
			w.reopen(t, smallConfig(mem, w))
			w.close(t)
		}
	})
}
