package ssd

import (
	"math/rand/v2"

	"github.com/firncache/firn/internal/ssd/format"
)

// startEmpty starts an empty log, and logs why.
func (t *Tier) startEmpty(why string) error {
	if err := t.startEmptyLog(); err != nil {
		return err
	}
	if why != "new" && why != "" {
		t.health.NoteOrigin("it starts empty: " + why)
		t.health.Info("firn: SSD tier starts empty", "reason", why)
	}
	return nil
}

// writeNewLog writes a superblock with another log's number: from this moment on
// nothing older is data. next is the serial from which the log goes on.
func (t *Tier) writeNewLog() (logID, next uint64, err error) {
	err = t.super.replace(func(s *format.Superblock) {
		logID, next = rand.Uint64(), max(s.NextSegment, 1)
		s.LogID, s.NextSegment = logID, next
		t.markInUse(s)
	})
	return logID, next, err
}

// markInUse makes a superblock say that the log is in use, by this process.
func (t *Tier) markInUse(s *format.Superblock) {
	s.BootID, s.Clean, s.Snapshot, s.Skew, s.Memory = t.cfg.BootID(), false, 0, t.clock.skew.Load(), format.MemoryID(t.index.ID())
	s.Budget = t.admission.Budget.State(false)
}

// startEmptyLog begins an empty log, on the disk and then in memory. Nothing is
// reclaimed meanwhile: findings in the old log must not be applied to the new one.
func (t *Tier) startEmptyLog() error {
	t.restarting.Lock()
	defer t.restarting.Unlock()
	logID, next, err := t.writeNewLog()
	if err != nil {
		return err
	}
	t.log.Pause()
	t.index.Head.Valid.Store(0)
	t.index.Clear(func() {
		t.log.Reset(logID, next)
		t.live.parts.Store(0)
		t.shares.Emptied()
	})
	t.validateIndex(logID)
	return t.super.file.Sync()
}

// validateIndex makes the index that of a log for the next process, too.
func (t *Tier) validateIndex(logID uint64) {
	h := t.index.Head
	h.LogID = logID
	h.Started.Store(t.clock.started())
	h.Valid.Store(1)
}

// Clear takes every record out. None comes back, also if the process dies as soon as
// this returns. It does not wait for the disk.
func (t *Tier) Clear() {
	t.index.Clear(func() {
		t.log.ClearAlive()
		t.live.parts.Store(0)
		t.shares.Emptied()
	})
	t.admission.Selective.Store(false)
}
