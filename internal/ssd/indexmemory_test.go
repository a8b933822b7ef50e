package ssd

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn/internal/record"
	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// growing is a tier of small records that asks charge for what its index takes, once
// it has started.
func growing(t *testing.T, charge func(x *Tier, n int64) error) *world {
	t.Helper()
	w := newWorld(t, 1)
	w.most = 1
	var started atomic.Bool
	w.startCharging(t, testConfig(vfstest.NewMem(), w), func(n int64) error {
		if !started.Load() {
			return nil
		}
		return charge(w.tier, n)
	})
	started.Store(true)
	return w
}

const growingKeys = 4500

// grow writes keys that leave RAM until something has happened.
func (w *world) grow(happened func() bool) {
	for i := 0; !happened(); i++ {
		w.set(w.key(i%growingKeys), 0)
		w.demote(w.key(i % growingKeys))
		synctest.Wait()
	}
}

// Who asks RAM for memory may be in there when the cache is forgotten: RAM's memory
// goes after Free, and Free waits for that.
func TestFreeWaitsForGrowth(t *testing.T) {
	bubble(t, func(t *testing.T) {
		asked, answer := false, make(chan struct{})
		w := growing(t, func(*Tier, int64) error {
			asked = true
			<-answer
			return nil
		})
		w.grow(func() bool { return asked })
		noError(t, w.tier.Close(background))
		freed := make(chan struct{})
		go func() {
			defer close(freed)
			w.tier.Free()
		}()
		synctest.Wait()
		select {
		case <-freed:
			t.Error("Free did not wait")
		default:
		}
		close(answer)
		<-freed
	})
}

// While the disk stands still the index takes no memory from RAM, which would
// have to evict for it what the disk does not take. It gets what it wants as soon
// as the disk goes on.
func TestIndexWaitsForDiskToGrow(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, 1)
		f := vfstest.NewFaulty(vfstest.NewMem())
		var charged atomic.Int64
		tier := w.startCharging(t, testConfig(f, w), func(n int64) error { charged.Add(n); return nil })
		held := f.Inject(vfstest.Rule{On: vfstest.OpWrite, Name: format.LogName, Block: true})
		for i := 0; !tier.log.Stalled.Load(); i++ {
			key := w.key(i)
			tier.Demote(w.hasher.Hash(key), key, make([]byte, 3000), 0, true, record.SameCopy)
		}
		before := charged.Load()
		tier.index.Used.Store(tier.index.Allowed.Load()) // it wants more from now on
		tier.work.wakeMaintenance()
		synctest.Wait()
		if n := charged.Load(); n != before {
			t.Errorf("while the disk stood still the index took %d bytes of RAM", n-before)
		}
		held.Remove()
		synctest.Wait()
		if n := charged.Load(); n <= before {
			t.Errorf("the index got no memory when the disk went on")
		}
		w.close(t)
	})
}

// What leaves RAM because the index grows is reported to the user with no lock held,
// and he may close the cache: Close does not wait for that.
func TestCloseWhileIndexGrows(t *testing.T) {
	bubble(t, func(t *testing.T) {
		closed := make(chan error, 1)
		w := growing(t, func(x *Tier, _ int64) error {
			if x.memory.mu.TryLock() {
				x.memory.mu.Unlock()
			} else {
				t.Error("RAM is charged while the tier is locked")
			}
			if len(closed) == 0 {
				closed <- x.Close(background)
			}
			return nil
		})
		began := time.Now()
		w.grow(func() bool { return len(closed) > 0 || w.tier.state.Load() != on })
		noError(t, <-closed)
		if took := time.Since(began); took > 0 {
			t.Errorf("Close waited %v for its own caller", took)
		}
		w.tier.Free()
	})
}

// What is about to leave RAM waits until the index has memory for it, but not for
// long where RAM is slow to give that, and only once: RAM may be waiting for a user
// who writes to the cache.
func TestReadyWaitsForIndex(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, 1)
		cfg := testConfig(vfstest.NewMem(), w)
		var held atomic.Pointer[chan struct{}]
		tier := w.startCharging(t, cfg, func(int64) error {
			if h := held.Load(); h != nil {
				<-*h
			}
			time.Sleep(w.tier.cfg.MaxWriteStall / 2)
			return nil
		})
		n := 0
		fill := func() {
			for ; !tier.index.LowOnMemory(); n++ {
				key := w.key(n)
				tier.Demote(w.hasher.Hash(key), key, nil, 0, true, record.SameCopy)
			}
		}
		ready := func(when string, want bool, long bool, wait time.Duration) {
			t.Helper()
			if took, ok := tier.WaitForRoom(0); ok != want || long != (took > 0) || wait > 0 && took != wait {
				t.Errorf("%s: ready: %v after %v", when, ok, took)
			}
		}
		fill()
		ready("with a RAM that gives memory", true, true, 0)
		gate := make(chan struct{})
		held.Store(&gate)
		time.Sleep(time.Minute) // what is under way ends
		fill()
		ready("with a RAM that does not", false, true, tier.cfg.MaxWriteStall)
		ready("for the second time", false, false, 0)
		close(gate)
		time.Sleep(time.Minute)
		ready("once it has", true, false, 0)
		w.close(t)
	})
}

// Row 33: what leaves RAM because the index grows is reported to the user, whose
// answer may be a write that waits for the maintain loop.
func TestFault33GrowingWaitsForTheUser(t *testing.T) {
	bubble(t, func(t *testing.T) {
		reporting, reported := make(chan struct{}), make(chan struct{})
		var once sync.Once
		w := growing(t, func(*Tier, int64) error {
			once.Do(func() { close(reporting) })
			<-reported
			return nil
		})
		inTime(t, "growing", func() {
			for i := 0; ; i++ {
				select {
				case <-reporting:
					return
				default:
					w.set(w.key(i%growingKeys), 0)
					w.demote(w.key(i % growingKeys))
				}
			}
		})
		inTime(t, "a write", func() {
			for reclaimed := w.tier.Stats().Reclaimed; w.tier.Stats().Reclaimed < reclaimed+3; {
				for i := range growingKeys {
					w.set(w.key(i), 0)
					w.demote(w.key(i))
				}
			}
		})
		close(reported)
		w.close(t)
	})
}
