package ssd

import (
	"errors"
	"sync"
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
	t.Parallel()
	for name, rule := range closingSteps {
		inBubble(t, name, func(t *testing.T) {
			const keys, patience = 50, 5 * time.Second
			patient := with(testConfig, func(cfg *Config) { cfg.StallTimeout = patience })
			w, _, f := startedFaulty(t, 1, patient)
			w.fill(t, keys)
			w.delete(w.key(0))
			old := w.tier

			rule.Block = true
			stuck := f.Inject(rule)
			began := time.Now()
			wantErr(t, old.Close(background), errStalled)
			if took := time.Since(began); took > 2*patience {
				t.Errorf("Close took %v with a patience of %v", took, patience)
			}
			stuck.AwaitBlocked(1)
			if _, err := Open(patient(f, w)); !errors.Is(err, vfs.ErrLocked) {
				t.Fatalf("Open while an operation is under way: %v, want ErrLocked", err)
			}

			stuck.Remove()
			synctest.Wait()
			wantNoOpenFiles(t, f)
			old.Free()
			w.reopen(t, patient(f, w))
			w.check(t, keys, false)
			w.close(t)
		})
	}
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
			w, mem, f := startedFaulty(t, 1, testConfig)
			w.steps(t, 1000, keys)
			w.restart(t, hurried(f, w))
			rule.Block = true
			stuck := f.Inject(rule)
			var group sync.WaitGroup
			for g := range 4 { // they end when the disk goes on
				group.Go(func() {
					for i := range keys / 4 {
						key := w.key(g*keys/4 + i)
						h := w.hasher.Hash(key)
						_, _ = w.tier.Get(background, nil, key, h)
						w.tier.Demote(h, key, w.bytesOf(key, 1, 2000), 0, true, record.SameCopy)
						w.tier.Invalidate(h)
					}
				})
			}
			stuck.AwaitBlocked(1)
			_ = w.tier.Close(background)
			stuck.Remove()
			group.Wait()
			h := w.killed(t, mem, testConfig)
			h.close(t)
		})
	}
}

// hurried is a tier that waits for a disk that does nothing for a moment only.
var hurried = with(testConfig, func(cfg *Config) { cfg.StallTimeout = 20 * time.Millisecond })

// A disk that is slow is not one that does nothing: Close waits as long as it does
// something.
func TestCloseWaitsForSlowDisk(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys, patience = 200, time.Second
		patient := with(testConfig, func(cfg *Config) { cfg.StallTimeout = patience })
		w, _, f := startedFaulty(t, 1, patient)
		w.fill(t, keys)
		f.Inject(vfstest.Rule{On: vfstest.OpWrite | vfstest.OpSync | vfstest.OpRename | vfstest.OpSyncDir, Delay: patience * 7 / 10})
		began := time.Now()
		w.close(t)
		if took := time.Since(began); took < 2*patience {
			t.Fatalf("Close took %v: the test shows nothing", took)
		}
		w.reopen(t, patient(f, w))
		w.wantLen(t, keys)
		w.close(t)
	})
}

// Row 16: nor does a disk do nothing that is slow to read what Close waits for: a
// segment that is being reclaimed.
func TestCloseWaitsForSlowReads(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, mem, f, _ := halfDead(t)
		w.tier.cfg.StallTimeout = time.Second
		slow := f.Inject(vfstest.Rule{On: vfstest.OpRead, Name: format.LogName, Delay: w.tier.cfg.StallTimeout * 9 / 10})
		synctest.Wait()
		w.tier.log.FreeTarget = 4
		w.tier.work.wakeMaintenance()
		slow.AwaitHits(2) // the trailer, and the list
		began := time.Now()
		w.close(t)
		if took := time.Since(began); took < time.Second {
			t.Fatalf("Close took %v: the test shows nothing", took)
		}
		slow.Remove()
		w.reopen(t, smallConfig(mem, w))
		w.wantAll(t)
		w.close(t)
	})
}

// Who waits for a slot to read with is let go when Close gives up.
func TestCloseLetsWaitersGo(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, f := onDisk(t, 3, with(testConfig, func(cfg *Config) { cfg.Depth = 1 }))
		stuck := f.Inject(vfstest.Rule{On: vfstest.OpRead | vfstest.OpSync, Block: true})
		queued := make(chan error, 2)
		for i := range 2 {
			go func() { queued <- w.getKey(i) }()
		}
		synctest.Wait()
		wantErr(t, w.tier.Close(background), errStalled)
		synctest.Wait()
		if len(queued) != 1 {
			t.Errorf("%d of the two reads came back, want the one that was queued", len(queued))
		}
		stuck.Remove()
		synctest.Wait()
		w.tier.Free()
	})
}
