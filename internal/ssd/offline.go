package ssd

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/firncache/firn/internal/ssd/files"
	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/ssd/log"
	"github.com/firncache/firn/internal/vfs"
)

// maxBadWrites is how many segments are abandoned in a row before the tier goes offline.
const maxBadWrites = 3

// onSegmentFailed abandons a segment of which a write failed twice.
func (t *Tier) onSegmentFailed(s *log.Segment, cause error) {
	t.count.writeErrors.Add(1)
	t.health.Fault("a segment could not be written", "segment", s.Serial, "error", cause)
	row := t.health.SegmentFailed()
	if row >= maxBadWrites && t.switchOff(fmt.Errorf("%d segments in a row could not be written: %w", row, cause)) {
		return
	}
	t.dropSlot(s.Slot, &t.count.evicted)
	t.shares.Freed(s.Slot)
	t.log.FreeSlot(s.Slot)
	t.count.quarantined.Add(1)
}

// switchOff takes the tier offline. It does not wait for the disk: that nothing in the
// files is data any more stands in the memory of the index. It reports whether the
// tier is offline: one that is being closed is not, and saves its index.
func (t *Tier) switchOff(cause error) bool {
	return t.health.SwitchOff(cause, func(stop <-chan struct{}) bool {
		if !t.state.CompareAndSwap(on, offline) { // it may be closed
			return false
		}
		t.index.Head.Valid.Store(0)
		t.count.switchedOff.Add(1)
		t.log.Broadcast()
		t.work.running.Go(func() { t.retryLoop(stop) })
		return true
	})
}

// startOffline is switchOff for a tier that found no space to begin with; Start begins
// the retries. It fails with cause if the superblock says that there is data and
// cannot be changed.
func (t *Tier) startOffline(cause error) error {
	t.state.Store(offline)
	if t.invalidateFiles() != nil && !t.noSuperblock {
		return cause
	}
	t.source = fromScratch
	t.dropLeftMemory()
	t.health.StartOff(cause)
	return nil
}

// dropLeftMemory removes the index that a process left: its log is not kept.
func (t *Tier) dropLeftMemory() {
	left := t.leftMemory
	t.leftMemory = nil
	switch {
	case left == nil:
	case left == t.index.Memory:
		left.Head.Valid.Store(0)
		t.registry.Reset()
		for i := range t.index.Shards {
			t.index.Shards[i].Reset()
		}
	default:
		left.Forget()
		left.Release()
	}
}

// invalidateFiles makes nothing in the files data any more, by another log's number
// in the superblock.
func (t *Tier) invalidateFiles() error {
	err := t.super.replace(func(s *format.Superblock) {
		s.LogID, s.Clean, s.Snapshot, s.Memory = rand.Uint64(), false, 0, format.MemoryID{}
		s.Budget = t.admission.Budget.State(false)
	})
	if err != nil {
		return err
	}
	return t.super.file.Sync()
}

// retryLoop tries to begin again, until it succeeds or the tier is closed.
func (t *Tier) retryLoop(stop <-chan struct{}) {
	pause := t.cfg.RetryInterval
	if pause <= 0 {
		pause = time.Second
	}
	t.health.Retry(stop, pause, t.reinitialize, func() { t.state.CompareAndSwap(offline, on) }) // it may be closed
}

// reinitialize begins an empty log, if the disk takes it.
func (t *Tier) reinitialize() error {
	if err := t.probe(); err != nil {
		return err
	}
	if vfs.NoSpace(t.health.Cause()) {
		return t.startEmpty("the file system was full")
	}
	return t.startEmpty("the disk failed")
}

// probe writes and reads one block of the log.
func (t *Tier) probe() error {
	bytes := t.log.UsableBytes()
	if err := t.logFile.Allocate(bytes); err != nil {
		return err
	}
	t.fileBytes.Store(bytes)
	block := vfs.Aligned(files.BlockBytes, files.BlockBytes)
	if _, err := t.logFile.WriteAt(block, 0); err != nil {
		return err
	}
	_, err := t.logFile.ReadAt(block, 0)
	return err
}
