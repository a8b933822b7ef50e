package ssd

import (
	"runtime"
	"sync"
	"syscall"
	"testing"

	"github.com/firncache/firn/internal/record"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// A tier that was opened and never started, because something else of the cache
// could not be, leaves the files as they were.
func TestCloseWithoutStart(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 50
		w, mem := started(t, 1, testConfig)
		w.fill(t, keys)
		w.close(t)
		tier := mustOpen(t, testConfig(mem, w))
		noError(t, tier.Close(background))
		tier.Free()
		w.reopen(t, testConfig(mem, w))
		w.wantAll(t)
		w.setKeys(keys)
		w.checkKilled(t, mem, testConfig, keys, false)
		w.restart(t, testConfig(mem, w))
	})
}

// Start fails, for RAM has no room for what the tier takes. The files and the memory
// that was left stay, and the next Open finds all.
func TestStartFails(t *testing.T) {
	t.Parallel()
	for _, end := range []ending{killed, closing} {
		inBubble(t, string(end), func(t *testing.T) {
			const keys = 100
			w, mem := filled(t, keys, testConfig)
			mem = w.end(t, mem, end)
			for _, memory := range []int64{1 << 20, 2 << 20} {
				h := w.heir()
				cfg := testConfig(mem, h)
				cfg.Memory = memory
				tier := mustOpen(t, cfg)
				wantErr(t, tier.Start(func(int64) error { return syscall.ENOMEM }), syscall.ENOMEM)
				noError(t, tier.Close(background))
				tier.Free()
			}
			h := w.heirOf(t, mem, testConfig)
			h.wantAll(t)
			h.close(t)
		})
	}
}

// Row 32: every call after Close is safe and finds nothing.
func TestFault32AfterClose(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, _ := started(t, 1, testConfig)
		w.put(t, w.key(1))
		h := w.hasher.Hash(w.key(1))
		noError(t, w.tier.Close(background))
		wantErr(t, w.tier.Close(background), nil)
		wantErr(t, w.getKey(1), ErrNotFound)
		if w.tier.Demote(h, w.key(1), []byte("value"), 0, true, record.SameCopy) || w.tier.IsCurrent(h, 1) || w.tier.AwaitRoom() || w.tier.Len() != 0 {
			t.Fatal("something works after Close")
		}
		w.tier.Invalidate(h)
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
			w, mem := started(t, seed, smallConfig)
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
			noError(t, w.tier.Close(background))
			close(stop)
			group.Wait()
			w.tier.Free()
			w.reopen(t, smallConfig(mem, w))
			w.close(t)
		}
	})
}

// Row 17: the tier has few files open, and none after Close.
func TestFault17FewFiles(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, 1)
		f := vfstest.NewFaulty(vfstest.NewMem())
		for range 3 {
			w.reopen(t, testConfig(f, w))
			w.steps(t, 2000, 300)
			w.close(t)
			wantNoOpenFiles(t, f)
		}
		if n := f.PeakOpenFiles(); n > 4 {
			t.Fatalf("%d files were open at once, want at most 4", n)
		}
	})
}
