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

// Who asks RAM for memory may be in there when the cache is forgotten: RAM's memory
// goes after Free, and Free waits for that.
func TestFreeWaitsForGrowth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		w.most = 1
		tier, err := Open(testConfig(vfstest.NewMem(), w))
		if err != nil {
			t.Fatal(err)
		}
		w.tier, w.hasher = tier, record.NewHasher(tier.Seed())
		started, asked, answer := false, false, make(chan struct{})
		err = tier.Start(func(int64) error {
			if started {
				asked = true
				<-answer
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		started = true
		for i := 0; !asked; i++ {
			w.set(w.key(i%4500), 0)
			w.demote(w.key(i % 4500))
			synctest.Wait()
		}
		if err := tier.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		freed := make(chan struct{})
		go func() {
			defer close(freed)
			tier.Free()
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
	t.Parallel()
	synctest.Test(t, indexWaitsForDiskToGrow)
}

func indexWaitsForDiskToGrow(t *testing.T) {
	w := newWorld(t, 1)
	f := vfstest.NewFaulty(vfstest.NewMem())
	tier, err := Open(testConfig(f, w))
	if err != nil {
		t.Fatal(err)
	}
	w.tier, w.hasher = tier, tier.ids.Hasher
	var charged atomic.Int64
	noError(t, tier.Start(func(n int64) error { charged.Add(n); return nil }))
	held := f.Inject(vfstest.Rule{On: vfstest.OpWrite, Name: format.LogName, Block: true})
	for i := 0; !tier.log.stalled.Load(); i++ {
		key := w.key(i)
		tier.Demote(w.hasher.Hash(key), key, make([]byte, 3000), 0, true, true)
	}
	before := charged.Load()
	tier.index.used.Store(tier.index.allowed.Load()) // it wants more from now on
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
}

// Close may be called by the user who is told of what leaves RAM while the index
// grows: it does not wait for that.
func TestCloseWhileIndexGrows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		w.most = 1
		tier, err := Open(testConfig(vfstest.NewMem(), w))
		if err != nil {
			t.Fatal(err)
		}
		w.tier = tier
		w.hasher = record.NewHasher(tier.Seed())
		started, closed := false, make(chan error, 1)
		err = tier.Start(func(int64) error {
			if started && len(closed) == 0 {
				closed <- tier.Close()
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		started = true
		began := time.Now()
		for i := 0; len(closed) == 0 && tier.state.Load() == on; i++ {
			w.set(w.key(i%4500), 0)
			w.demote(w.key(i % 4500))
			synctest.Wait()
		}
		if err := <-closed; err != nil {
			t.Errorf("Close: %v", err)
		}
		if took := time.Since(began); took > 0 {
			t.Errorf("Close waited %v for its own caller", took)
		}
		tier.Free()
	})
}

// What leaves RAM because the index grows is reported to the user with no lock
// held, and he may close the cache.
func TestCloseWhileTheIndexGrows(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.most = 1
	tier, err := Open(testConfig(vfstest.NewMem(), w))
	if err != nil {
		t.Fatal(err)
	}
	w.tier, w.hasher = tier, record.NewHasher(tier.Seed())
	var started atomic.Bool
	ended := make(chan error)
	err = tier.Start(func(int64) error {
		if !started.Load() {
			return nil
		}
		if !tier.memory.mu.TryLock() {
			t.Error("RAM is charged while the tier is locked")
		} else {
			tier.memory.mu.Unlock()
		}
		if tier.state.Load() != closed {
			ended <- tier.Close()
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	started.Store(true)
	inTime(t, "growing", func() {
		for i := 0; ; i++ {
			select {
			case err := <-ended:
				if err != nil {
					t.Errorf("Close: %v", err)
				}
				return
			default:
				w.set(w.key(i), 0)
				w.demote(w.key(i))
			}
		}
	})
}

// What is about to leave RAM waits until the index has memory for it, but not for
// long where RAM is slow to give that, and only once: RAM may be waiting for a user
// who writes to the cache.
func TestReadyWaitsForIndex(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, 1)
		w.most = 1
		tier, err := Open(testConfig(vfstest.NewMem(), w))
		if err != nil {
			t.Fatal(err)
		}
		w.tier, w.hasher = tier, tier.ids.Hasher
		slow := tier.cfg.Throttle / 2
		var held atomic.Pointer[chan struct{}]
		if err := tier.Start(func(int64) error {
			if h := held.Load(); h != nil {
				<-*h
			}
			time.Sleep(slow)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		n := 0
		fill := func() {
			for ; !tier.index.lowOnMemory(); n++ {
				key := w.key(n)
				tier.Demote(w.hasher.Hash(key), key, nil, 0, true, true)
			}
		}
		fill()
		if took, ok := tier.Ready(0); !ok || took == 0 {
			t.Errorf("with a RAM that gives memory: ready: %v after %v", ok, took)
		}
		gate := make(chan struct{})
		held.Store(&gate)
		time.Sleep(time.Minute) // what is under way ends
		fill()
		if took, ok := tier.Ready(0); ok || took != tier.cfg.Throttle {
			t.Errorf("with a RAM that does not: ready: %v after %v, want not, after %v", ok, took, tier.cfg.Throttle)
		}
		if took, ok := tier.Ready(0); ok || took != 0 {
			t.Errorf("for the second time: ready: %v after %v, want not, at once", ok, took)
		}
		close(gate)
		time.Sleep(time.Minute)
		if took, ok := tier.Ready(0); !ok || took != 0 {
			t.Errorf("once it has: ready: %v after %v", ok, took)
		}
		w.close(t)
	})
}

// Row 33: what leaves RAM because the index grows is reported to the user, whose
// answer may be a write that waits for the keeper.
func TestFault33GrowingWaitsForTheUser(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 4500
		w := newWorld(t, 1)
		w.most = 1
		tier, err := Open(testConfig(vfstest.NewMem(), w))
		if err != nil {
			t.Fatal(err)
		}
		w.tier, w.hasher = tier, record.NewHasher(tier.Seed())
		var started atomic.Bool
		reporting, reported := make(chan struct{}), make(chan struct{})
		var once sync.Once
		err = tier.Start(func(int64) error {
			if started.Load() {
				once.Do(func() { close(reporting) })
				<-reported
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		started.Store(true)
		inTime(t, "growing", func() {
			for i := 0; ; i++ {
				select {
				case <-reporting:
					return
				default:
					w.set(w.key(i%keys), 0)
					w.demote(w.key(i % keys))
				}
			}
		})
		inTime(t, "a write", func() {
			for reclaimed := tier.Stats().Reclaimed; tier.Stats().Reclaimed < reclaimed+3; {
				for i := range keys {
					w.set(w.key(i), 0)
					w.demote(w.key(i))
				}
			}
		})
		close(reported)
		w.close(t)
	})
}
