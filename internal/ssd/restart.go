package ssd

import (
	"errors"
	"math/rand/v2"
)

// begin starts an empty log.
func (t *Tier) begin(why string) error {
	if err := t.restart(); err != nil {
		return err
	}
	if why != "new" && why != "" {
		t.lines.info("firn: SSD tier starts empty", "reason", why)
	}
	return nil
}

// newLog writes a superblock with another log's number: from this moment on
// nothing older is data.
func (t *Tier) newLog() error {
	t.super.Lock()
	defer t.super.Unlock()
	s := t.super.superblock
	s.logID, s.floor, s.nextSeg = rand.Uint64(), 0, max(s.nextSeg, 1)
	s.bootID, s.clean, s.snapshot, s.skew = t.cfg.BootID(), false, 0, t.skew.Load()
	if err := replaceSuperblock(t.super.file, &s); err != nil {
		return err
	}
	t.super.superblock = s
	return nil
}

// logNumber is the number of the log, which is part of every checksum in it.
func (t *Tier) logNumber() uint64 {
	t.log.mu.Lock()
	defer t.log.mu.Unlock()
	return t.log.logID
}

// restart begins an empty log, on the disk and then in the journal and in memory.
// Housekeeping stands still meanwhile: what it found in the old log it must not
// do to the new one.
func (t *Tier) restart() error {
	t.restarting.Lock()
	defer t.restarting.Unlock()
	if err := t.newLog(); err != nil {
		return err
	}
	t.super.Lock()
	logID, next := t.super.logID, t.super.nextSeg
	t.super.Unlock()
	l := t.log
	l.mu.Lock()
	if s := l.open; s != nil {
		l.sealed = append(l.sealed, s)
		l.open = nil
	}
	for _, s := range l.sealed {
		s.failed = true // lest it be written any further
	}
	l.paused = true // until the index is empty: what is appended is named there
	for l.writing {
		l.changed.Wait()
	}
	for _, s := range l.sealed {
		s.done = true
	}
	l.sealed = nil
	l.mu.Unlock()

	err := t.journal.reset(logID)
	t.index.clear(func() {
		l.restart(logID, next)
		t.recovering.Store(false)
	})
	return err
}

// restart begins an empty log. All slots are free.
func (l *log) restart(logID, next uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.logID = logID
	l.next, l.prev, l.before = max(l.next, next), 0, 0
	l.free = l.free[:0]
	for i := range l.slots {
		s := &l.slots[i]
		s.serial.Store(0)
		s.sealed, s.bad = false, false
		l.free = append(l.free, int32(i))
	}
	l.tail.Store(l.lsn(l.next, 0))
	l.flushed.Store(l.lsn(l.next, 0))
	l.full.Store(false)
	l.paused = false
	l.noteRoom()
	l.changed.Broadcast()
}

// Clear takes every record out. When it returns nil, none comes back. It waits for
// the disk as long as that does something; if it fails, some records may be found
// yet, and go later.
func (t *Tier) Clear() error {
	if t.state.Load() == closed {
		return errClosed
	}
	var err error
	ended := make(chan struct{})
	t.loose.Go(func() {
		defer close(ended)
		err = t.clear()
	})
	if !await(ended, t.cfg.Patience, t.door.returned) {
		return errStuckClear
	}
	return err
}

// clear is Clear, however long the disk takes.
func (t *Tier) clear() error {
	if t.state.Load() == off {
		if t.void() != nil {
			return mayComeBack(errors.New("ssd: the disk cannot be told that the cache was cleared"))
		}
		return nil
	}
	t.stopRecovery()
	err := t.restart()
	switch {
	case err == nil:
		return nil
	case t.state.Load() == closed: // Close may have saved what was to be cleared
		return errClosed
	}
	return t.unnoted(err)
}

func (l *log) nextSerial() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.next
}
