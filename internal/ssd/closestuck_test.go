package ssd

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn/internal/record"
	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/vfs"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// all that Close does to the disk.
var closingSteps = map[string]vfstest.Rule{
	"a write of the log":         {On: vfstest.OpWrite, Name: format.LogName},
	"the sync of the log":        {On: vfstest.OpSync, Name: format.LogName},
	"the removal of a snapshot":  {On: vfstest.OpRemove, Name: format.SnapshotName},
	"the making of the snapshot": {On: vfstest.OpCreate, Name: format.SnapshotTempName},
	"the cut of the snapshot":    {On: vfstest.OpTruncate, Name: format.SnapshotTempName},
	"a write of the snapshot":    {On: vfstest.OpWrite, Name: format.SnapshotTempName},
	"the sync of the snapshot":   {On: vfstest.OpSync, Name: format.SnapshotTempName},
	"the end of the snapshot":    {On: vfstest.OpClose, Name: format.SnapshotTempName},
	"the name of the snapshot":   {On: vfstest.OpRename, Name: format.SnapshotName},
	"the sync of the directory":  {On: vfstest.OpSyncDir},
	"the superblock":             {On: vfstest.OpWrite, Name: format.SuperblockName},
	"the sync of the superblock": {On: vfstest.OpSync, Name: format.SuperblockName},
	"the end of the log":         {On: vfstest.OpClose, Name: format.LogName},
	"the end of the superblock":  {On: vfstest.OpClose, Name: format.SuperblockName},
}

// Row 16: whatever Close does to the disk, it comes back when that is stuck. The
// directory is locked until the disk has given the operation back: what is
// written so late must not come over what the next owner writes.
func TestFault16CloseWhereverItIsStuck(t *testing.T) {
	for name, rule := range closingSteps {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { closeStuck(t, rule) })
		})
	}
}

func closeStuck(t *testing.T, rule vfstest.Rule) {
	const keys = 50
	w := newWorld(t, 1)
	f := vfstest.NewFaulty(vfstest.NewMem())
	cfg := testConfig(f, w)
	cfg.Patience = 5 * time.Second
	w.reopen(t, cfg)
	for i := range keys {
		w.put(t, w.key(i))
	}
	w.delete(w.key(0))
	old := w.tier

	rule.Block = true
	stuck := f.Inject(rule)
	began := time.Now()
	if err := old.Close(); !errors.Is(err, errStalled) {
		t.Fatalf("Close: %v, want that the disk is stuck", err)
	}
	if took := time.Since(began); took > 2*cfg.Patience {
		t.Errorf("Close took %v with a patience of %v", took, cfg.Patience)
	}
	stuck.AwaitBlocked(1)
	if _, err := Open(cfg); !errors.Is(err, vfs.ErrLocked) {
		t.Fatalf("Open while an operation is under way: %v, want ErrLocked", err)
	}

	stuck.Remove()
	synctest.Wait()
	if open := f.OpenFiles(); len(open) > 0 {
		t.Errorf("left open: %v", open)
	}
	old.Free()
	w.reopen(t, cfg)
	w.check(t, keys, false)
	w.close(t)
}

// A disk that is slow is not one that does nothing: Close waits as long as it does
// something.
func TestCloseWaitsForSlowDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const keys = 200
		w := newWorld(t, 1)
		f := vfstest.NewFaulty(vfstest.NewMem())
		cfg := testConfig(f, w)
		cfg.Patience = time.Second
		w.reopen(t, cfg)
		for i := range keys {
			w.put(t, w.key(i))
		}
		f.Inject(vfstest.Rule{On: vfstest.OpWrite | vfstest.OpSync | vfstest.OpRename | vfstest.OpSyncDir, Delay: cfg.Patience * 7 / 10})
		began := time.Now()
		w.close(t)
		if took := time.Since(began); took < 2*cfg.Patience {
			t.Fatalf("Close took %v: the test shows nothing", took)
		}
		w.reopen(t, cfg)
		if n := w.tier.Len(); n != keys {
			t.Errorf("%d records, want %d", n, keys)
		}
		w.close(t)
	})
}

// Who waits for a slot to read with is let go when
// Close gives up.
func TestCloseLetsWaitersGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		f := vfstest.NewFaulty(vfstest.NewMem())
		cfg := testConfig(f, w)
		cfg.Depth = 1
		w.reopen(t, cfg)
		for i := range 3 {
			w.put(t, w.key(i))
		}
		w.close(t)
		w.reopen(t, cfg)
		stuck := f.Inject(vfstest.Rule{On: vfstest.OpRead | vfstest.OpSync, Block: true})
		queued := make(chan error, 2)
		for i := range 2 {
			go func() {
				_, err := w.tier.Get(background, nil, w.key(i), w.hasher.Hash(w.key(i)))
				queued <- err
			}()
		}
		synctest.Wait()
		if err := w.tier.Close(); !errors.Is(err, errStalled) {
			t.Fatalf("Close: %v", err)
		}
		synctest.Wait()
		if len(queued) != 1 {
			t.Errorf("%d of the two reads came back, want the one that was queued", len(queued))
		}
		stuck.Remove()
		synctest.Wait()
		w.tier.Free()
	})
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
