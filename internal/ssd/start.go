package ssd

import (
	"fmt"
	"time"

	"github.com/firncache/firn/internal/ssd/format"
)

// Start begins to serve: it finds the index, and starts to write. charge is called,
// from goroutines of the tier's own, with the memory that the tier takes, in bytes
// more than before.
func (t *Tier) Start(charge func(bytes int64) error) error {
	t.memory.charge = charge
	stop := t.health.Retrying()
	if err := t.memory.grow(t.index.WantsMemory()); err != nil {
		return err
	}
	if err := t.findIndex(); err != nil {
		return err
	}
	t.started = true
	t.work.running.Go(t.flusher.Run)
	t.work.maintaining.Go(t.maintain)
	t.work.wakeMaintenance() // a log that is full has room to be made
	if stop != nil {         // there was no space to begin with
		t.work.running.Go(func() { t.retryLoop(stop) })
	}
	return nil
}

// findIndex goes on with the log that was found. While it does, the files and the
// memory that was left stay as they are: should the process die, the next finds them.
func (t *Tier) findIndex() error {
	if t.source == fromScratch {
		return nil
	}
	start := time.Now()
	t.hasDeadlines.Store(true) // some of the records may
	var from string
	switch t.source {
	case fromSnapshot:
		from = "snapshot"
		if err := t.loadSnapshot(t.super.Snapshot); err != nil {
			t.index.Clear(nil)
			t.registry.Reset()
			return t.startEmpty("the snapshot cannot be read: " + err.Error())
		}
	case fromMemory:
		from = "memory"
		t.adoptMemory()
	case fromLog:
		from = "log"
		t.rebuildFromLog()
	}
	t.admission.Selective.Store(t.log.FreeSlots() <= t.log.FreeTarget)
	t.updateSelective()
	if err := t.memory.grow(0); err != nil {
		return err
	}
	if err := t.continueLog(); err != nil {
		return err
	}
	records, took := t.records(), time.Since(start).Round(time.Millisecond)
	t.health.NoteOrigin(fmt.Sprintf("%d records were found at Open, from %s, in %v", records, t.source, took))
	t.health.Info("firn: SSD tier is back", "records", records, "from", from, "took", took)
	return nil
}

// continueLog makes the superblock say that the log is in use, and where its index is.
func (t *Tier) continueLog() error {
	t.validateIndex(t.super.LogID)
	if err := t.super.replace(t.markInUse); err != nil {
		return err
	}
	if err := t.super.file.Sync(); err != nil {
		return err
	}
	if old := t.leftMemory; old != nil {
		t.leftMemory = nil
		if old != t.index.Memory {
			old.Forget()
			old.Release()
		}
	}
	t.removeOld(format.SnapshotTempName, format.SnapshotName) // the log may need the room
	return t.cfg.FS.SyncDir()
}
