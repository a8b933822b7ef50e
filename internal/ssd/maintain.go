package ssd

import (
	"time"

	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/ssd/log"
)

// maintain is the tier's housekeeping: it makes room in the log, gives the index
// memory, and writes records that have waited for long.
func (t *Tier) maintain() {
	tick := time.NewTicker(log.FlushEvery)
	defer tick.Stop()
	for {
		select {
		case <-t.work.quit:
			return
		case <-tick.C:
			t.log.FlushOpen()
			t.index.Limit.Store(t.index.Most) // RAM may have some to give again
			t.updateSelective()
			if t.state.Load() == on {
				t.keepRoom(false)
				t.sampleShares()
			}
			if t.hasDeadlines.Load() {
				t.index.Head.NoteTime(t.Now())
			}
		case <-t.work.wake:
		}
		t.maintainOnce()
	}
}

// maintainOnce does the work that is due.
func (t *Tier) maintainOnce() {
	if t.state.Load() != on {
		return
	}
	for t.makeRoom() {
		select {
		case <-t.work.quit:
			return
		default:
		}
	}
	if t.overBudget() {
		if err := t.cutFile(); err != nil {
			t.health.Fault("the log's file could not be cut", "error", err)
		}
	}
	if t.admission.Budget.Due() {
		t.saveBudget()
	}
	if more := t.index.WantsMemory(); more > 0 && !t.log.Stalled.Load() && t.work.growing.CompareAndSwap(false, true) {
		t.work.detached.Go(func() { t.growIndex(more) })
	}
}

// saveBudget saves the bytes written so far in the superblock.
func (t *Tier) saveBudget() {
	err := t.super.write(func(s *format.Superblock) { s.Budget = t.admission.Budget.State(false) })
	if err != nil {
		t.health.Fault("the superblock could not be written", "error", err) // the lease stands
	}
}

// growIndex gives the index more memory. It has a goroutine of its own: records that
// leave RAM for it are reported to the user, who may write to the cache, and a write
// may have to wait for maintenance. Nor does Close wait, for he may call that: RAM is
// closed then, and has nothing left to report. Free waits, for RAM's memory goes
// after it.
func (t *Tier) growIndex(more int64) {
	if t.memory.grow(more) != nil {
		t.index.Limit.Store(t.index.Allowed.Load()) // RAM has no more to give, until the next tick
		t.log.Broadcast()
	}
	t.work.growing.Store(false)
	t.work.wakeMaintenance() // it may want more by now
}

// makeRoom reclaims a segment, if there is need to. It reports whether there may be
// more to do.
func (t *Tier) makeRoom() bool {
	t.restarting.Lock()
	defer t.restarting.Unlock()
	return t.reclaim()
}

// BeginWriteAll has the writer write all that was appended before the call, which does not wait
// for that; done reports whether it has.
func (t *Tier) BeginWriteAll() (done func() bool) { return t.log.BeginFlush() }

// WriteAll writes all that was appended, and gives up the buffers that it lies in, so
// that reads go to the disk. It is for tests: it waits for the disk as long as that takes.
func (t *Tier) WriteAll() {
	t.log.FlushAll()
	t.log.DropBuffers()
}
