package ssd

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/firncache/firn/internal/vfs"
)

// health follows how the disk does. A segment that cannot be written is given
// up; a tier whose disk fails again and again is switched off: RAM goes on
// alone, and the disk is tried again now and then, with an empty log.
type health struct {
	lines  *lines
	voided atomic.Bool // switched off, and nothing in the files is data any more

	mu        sync.Mutex
	cause     error // why the tier is off; nil: it is on
	badWrites int   // segments given up since one was written to its end
	voiding   *voiding
	healing   chan struct{}
	stopped   bool
	lastLog   time.Time
	unlogged  int

	badReads atomic.Int32 // reads that failed in a row
}

const (
	mostBadWrites = 3
	mostBadReads  = 32
	logPause      = 10 * time.Second
	longestHeal   = time.Minute
)

func (h *health) isOff() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.cause != nil
}

// log writes a line about a fault, but no flood of them.
func (h *health) log(what string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if time.Since(h.lastLog) < logPause {
		h.unlogged++
		return
	}
	h.lastLog = time.Now()
	h.lines.warn("firn: SSD tier: "+what, append(args, "not_logged", h.unlogged)...)
	h.unlogged = 0
}

// readWell ends a row of failed reads.
func (h *health) readWell() {
	if h.badReads.Load() != 0 {
		h.badReads.Store(0)
	}
}

// readFailed counts a read that failed, and switches the tier off after many in
// a row.
func (t *Tier) readFailed(ctx interface{ Err() error }, sp *spot, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if !t.still(sp) {
		return ErrChanged
	}
	t.count.readErrors.Add(1)
	t.health.log("a read failed", "error", err)
	if t.health.badReads.Add(1) >= mostBadReads {
		t.switchOff(fmt.Errorf("%d reads in a row failed: %w", mostBadReads, err))
	}
	return err
}

// segmentFailed gives up a segment that could not be written, twice. What the
// index has of it must not come back, whatever of it lies on the disk: that is
// noted first.
func (t *Tier) segmentFailed(s *segment, cause error) {
	t.count.writeErrors.Add(1)
	t.health.log("a segment could not be written", "segment", s.serial, "error", cause)
	t.health.mu.Lock()
	t.health.badWrites++
	many := t.health.badWrites >= mostBadWrites
	t.health.mu.Unlock()
	if many || t.log.reliesOn(s) { // what its records say may be said nowhere else
		t.switchOff(cause)
		return
	}
	if !t.journal.canDrop() {
		t.switchOff(errors.Join(cause, errMostDropped))
		return
	}
	if err := t.journal.commitNow(dropNote(s.serial, s.prev)); err != nil {
		t.switchOff(errors.Join(cause, err))
		return
	}
	t.forget(s.slot)
	t.log.release(s.slot)
	t.count.quarantined.Add(1)
}

// segmentWritten ends a row of segments that were given up.
func (t *Tier) segmentWritten() {
	t.health.mu.Lock()
	t.health.badWrites = 0
	t.health.mu.Unlock()
}

// forget takes every entry out that names a slot. A recovery must find nothing
// older in their place.
func (t *Tier) forget(slot int) {
	t.index.each(func(x id, e entry) entry {
		in, _ := t.log.place(t.index.location(e))
		switch {
		case t.index.grave(e) || in != slot:
			return e
		case t.recovering.Load():
			return t.index.newGrave(x)
		}
		return 0
	})
}

// switchOff stops using the files, and begins to void what they hold. Until that
// has been done the index is kept, to tell which writes cannot be made safe. It
// does not wait for the disk.
func (t *Tier) switchOff(cause error) {
	h := &t.health
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.cause != nil || h.stopped || !t.state.CompareAndSwap(on, off) { // it may be closed
		return
	}
	h.cause = cause
	healing := make(chan struct{})
	h.healing = healing
	t.count.switchedOff.Add(1)
	t.lines.error("firn: SSD tier is off; RAM goes on alone", "error", cause)
	h.voiding = t.beginVoiding() // what was begun before may have been about another log
	t.journal.fail(cause)
	t.running.Go(func() { t.heal(healing) })
}

// startOff is switchOff for a tier that found no space to begin with; Start
// begins to heal it. It fails with cause if what the files hold cannot be voided.
func (t *Tier) startOff(cause error) error {
	t.state.Store(off)
	if t.void() != nil && !t.empty {
		return cause
	}
	h := &t.health
	h.cause = cause
	h.voided.Store(true)
	t.plan = recoveryPlan{}
	t.recovering.Store(false)
	h.healing = make(chan struct{})
	t.lines.error("firn: SSD tier is off; RAM goes on alone", "error", cause)
	return nil
}

// void makes nothing in the files data any more, by another log's number in the
// superblock.
func (t *Tier) void() error {
	if t.health.voided.Load() {
		return nil
	}
	t.super.Lock()
	defer t.super.Unlock()
	if t.health.voided.Load() || t.super.saved || t.state.Load() == on { // on: another log has begun meanwhile
		return nil
	}
	s := t.super.superblock
	s.logID, s.clean, s.snapshot = rand.Uint64(), false, 0
	if err := writeSuperblock(t.super.file, &s); err != nil {
		return err
	}
	_ = writeSuperblock(t.super.file, &s) // see replaceSuperblock; one suffices as long as it is read
	t.super.superblock = s
	t.health.voided.Store(true)
	return nil
}

// voiding is a call of void in a goroutine of its own.
type voiding struct {
	began time.Time
	done  chan struct{}
	err   error // valid once done is closed
}

func (t *Tier) beginVoiding() *voiding {
	v := &voiding{began: time.Now(), done: make(chan struct{})}
	t.loose.Go(func() {
		defer close(v.done)
		v.err = t.void()
	})
	return v
}

func (v *voiding) ended() bool {
	select {
	case <-v.done:
		return true
	default:
		return false
	}
}

// voidInTime is void for those who do not wait without end for a disk that does
// nothing. All of them wait for one call of it, as long as Config.Patience from its
// beginning.
func (t *Tier) voidInTime() error {
	h := &t.health
	if h.voided.Load() {
		return nil
	}
	h.mu.Lock()
	if h.voiding == nil || h.voiding.ended() {
		h.voiding = t.beginVoiding()
	}
	v := h.voiding
	h.mu.Unlock()
	timer := time.NewTimer(time.Until(v.began.Add(t.cfg.Patience)))
	defer timer.Stop()
	select {
	case <-v.done:
		return v.err
	case <-timer.C:
		return errStuckNote
	}
}

// unnoted is what Commit returns when the journal failed: nil once the files
// hold nothing that could come back. Once Close has given up it does not try: the
// superblock may be what is stuck.
func (t *Tier) unnoted(cause error) error {
	t.switchOff(cause)
	if !t.gaveUp.Load() && t.voidInTime() == nil {
		return nil
	}
	return mayComeBack(cause)
}

func mayComeBack(cause error) error {
	return fmt.Errorf("ssd: an older value of this key may come back after a crash: %w", cause)
}

// heal tries to begin again, until it succeeds or the tier is closed.
func (t *Tier) heal(stop chan struct{}) {
	pause := t.cfg.HealEvery
	if pause <= 0 {
		pause = time.Second
	}
	for {
		select {
		case <-stop:
			return
		case <-time.After(pause):
		}
		pause = min(2*pause, longestHeal)
		if err := t.tryAgain(); err != nil {
			t.health.log("still off", "error", err)
			continue
		}
		h := &t.health
		h.mu.Lock()
		if h.stopped {
			h.mu.Unlock()
			return
		}
		h.cause, h.badWrites = nil, 0
		h.badReads.Store(0)
		t.super.Lock()
		h.voided.Store(false)
		t.state.CompareAndSwap(off, on) // it may be closed
		t.super.Unlock()
		h.mu.Unlock()
		t.lines.info("firn: SSD tier is on again, empty")
		return
	}
}

// tryAgain begins an empty log, if the disk takes it.
func (t *Tier) tryAgain() error {
	t.stopRecovery() // of a log that is void
	if err := t.probe(); err != nil {
		return err
	}
	return t.prepare(false, "the disk failed")
}

// probe writes and reads one block of the log.
func (t *Tier) probe() error {
	if err := t.logFile.Allocate(t.logBytes); err != nil {
		return err
	}
	block := vfs.Aligned(blockBytes, blockBytes)
	if _, err := t.logFile.WriteAt(block, 0); err != nil {
		return err
	}
	_, err := t.logFile.ReadAt(block, 0)
	return err
}

// stop ends healing, for good.
func (h *health) stop() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stopped = true
	if h.healing != nil {
		close(h.healing)
		h.healing = nil
	}
}
