package ssd

import (
	"errors"
	"fmt"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn/internal/vfs"
)

const shortPatience = 4 * time.Second

// stuckSets writes n keys one by one, of which the tier has the first few, and
// reports how many writes failed. None may take much longer than the patience.
func (w *world) stuckSets(t *testing.T, n int) (failed int) {
	t.Helper()
	ended := make(chan error, 1)
	go func() {
		for i := range n {
			began := time.Now()
			if w.set(w.key(i), 0) != nil {
				failed++
			}
			if took := time.Since(began); took > 2*shortPatience {
				ended <- fmt.Errorf("write %d took %v with a patience of %v", i, took, shortPatience)
				return
			}
		}
		ended <- nil
	}()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Hour): // of the bubble
		t.Fatal("a write waits for its note without end")
	}
	return failed
}

func patient(fs vfs.FS, w *world) Config {
	cfg := testConfig(fs, w)
	cfg.Patience = shortPatience
	return cfg
}

// Row 16: the recovery's reads are stuck, and so many keys are written that the
// journal would have to be folded, for which there is no room in the log. The
// writes go on once the files are void.
func TestFault16RecoveryStuck(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 6000
		w := newWorld(t, 1)
		mem := full(t, w, testConfig, keys)
		f := vfs.NewFaulty(mem)
		held := f.Inject(vfs.Rule{On: vfs.OpRead, Name: logName, Match: func(op vfs.Op) bool { return op.Len > blockBytes }, Block: true})
		w.crashed()
		if err := w.open(patient(f, w)); err != nil {
			t.Fatal(err)
		}
		held.AwaitBlocked(1)
		i := uint64(0)
		for _, size := range []int{10_000, 1000, 10} { // the log is filled to its end
			for ; w.tier.Demote(i<<30, w.key(keys), make([]byte, size), 0, true); i++ {
				synctest.Wait()
			}
		}
		if failed := w.stuckSets(t, keys); failed > 0 {
			t.Errorf("%d writes failed, though the files could be made void", failed)
		}
		if s := w.tier.Stats(); s.On || s.SwitchedOff != 1 {
			t.Errorf("the tier is not off: %+v", s)
		}
		h := w.killed(t, mem, testConfig)
		h.check(t, keys, false)
		h.close(t)
		held.Remove()
		w.close(t)
	})
}

// Row 16: the keeper is stuck in a note of its own. Writes that need the journal
// folded are let go.
func TestFault16KeeperStuck(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 4000
		w := newWorld(t, 1)
		f := vfs.NewFaulty(vfs.NewMem())
		w.most = 1
		w.reopen(t, patient(f, w))
		for i := range keys {
			w.put(t, w.key(i))
		}
		w.written()
		stuck := f.Inject(vfs.Rule{On: vfs.OpWrite, Name: journalName, Times: 1, Block: true})
		w.tier.expires.Store(true)
		stuck.AwaitBlocked(1)
		if failed := w.stuckSets(t, keys); failed > 0 {
			t.Errorf("%d writes failed, though the files could be made void", failed)
		}
		stuck.Remove()
		w.untilOn()
		w.close(t)
	})
}

// Row 16: a Clear is stuck, and the keeper behind it. Writes that need the journal
// folded are let go, and told that their keys are not safe; those of keys that the
// tier has not are. It is no test for a bubble: who waits for a mutex stops its
// time.
func TestFault16ClearStuckAndJournalFull(t *testing.T) {
	t.Parallel()
	const keys = 4000
	w := newWorld(t, 1)
	f := vfs.NewFaulty(vfs.NewMem())
	w.most = 1
	cfg := testConfig(f, w)
	cfg.Patience = 20 * time.Millisecond
	w.reopen(t, cfg)
	for i := range keys {
		w.put(t, w.key(i))
	}
	w.written()
	stuck := f.Inject(vfs.Rule{On: vfs.OpWrite, Name: superBlockOf, Block: true})
	cleared := make(chan error)
	go func() { cleared <- w.tier.Clear() }()
	stuck.AwaitBlocked(1)
	failed := 0
	inTime(t, "writing", func() {
		for i := range keys {
			if w.set(w.key(i), 0) != nil {
				failed++
			}
		}
		if err := w.set(w.key(0), 0); err != nil {
			t.Errorf("a write of a key in RAM only: %v", err)
		}
	})
	if failed == 0 {
		t.Error("no write was told that its key is not safe")
	}
	if err := <-cleared; !errors.Is(err, errStuckClear) {
		t.Errorf("Clear: %v, want that it is stuck", err)
	}
	stuck.Remove()
	w.close(t)
}

// A recovery that is slow keeps writes waiting, but while it gets on the tier stays
// on.
func TestSlowRecoveryIsNotStuck(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 6000
		w := newWorld(t, 1)
		f := vfs.NewFaulty(full(t, w, testConfig, keys))
		f.Inject(vfs.Rule{On: vfs.OpRead, Name: logName, Match: func(op vfs.Op) bool { return op.Len > blockBytes }, Delay: shortPatience / 2})
		w.crashed()
		if err := w.open(patient(f, w)); err != nil {
			t.Fatal(err)
		}
		for i := range keys {
			if err := w.set(w.key(i), 0); err != nil {
				t.Fatal(err)
			}
		}
		if s := w.tier.Stats(); !s.On || s.SwitchedOff > 0 {
			t.Errorf("%+v", s)
		}
		w.recovered()
		w.close(t)
	})
}

// A read that fails and switches the tier off does not wait until the superblock
// has been written.
func TestReadDoesNotVoid(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, 1)
		f := vfs.NewFaulty(vfs.NewMem())
		w.reopen(t, patient(f, w))
		w.put(t, w.key(0))
		w.close(t)
		w.reopen(t, patient(f, w))
		f.Inject(vfs.Rule{On: vfs.OpRead, Name: logName, Err: syscall.EIO})
		stuck := f.Inject(vfs.Rule{On: vfs.OpWrite, Name: superBlockOf, Block: true})
		began := time.Now()
		for range mostBadReads {
			if _, err := w.tier.Get(background, nil, w.key(0), w.hasher.Hash(w.key(0))); !errors.Is(err, syscall.EIO) {
				t.Fatalf("Get: %v", err)
			}
		}
		if took := time.Since(began); took > 0 || w.tier.state.Load() != off {
			t.Errorf("the reads took %v; off: %v", took, w.tier.state.Load() == off)
		}
		if err := w.set(w.key(0), 0); err == nil {
			t.Error("a write is acknowledged before the files are void")
		}
		stuck.Remove()
		w.close(t)
	})
}
