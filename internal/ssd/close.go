package ssd

import (
	"errors"

	"github.com/firncache/firn/internal/offheap"
	"github.com/firncache/firn/internal/vfs"
)

// Close writes what is in memory, saves the index and closes the files. The
// caller lets no write begin any more: Superseded and Demote have returned. Reads
// may be under way, and Commit may come later.
//
// It waits for the disk as long as that does something. What is stuck has its own
// goroutine, which ends what Close began when the disk goes on; until then the
// directory stays locked, for the system may yet write there.
func (t *Tier) Close() error {
	if t.state.Swap(closed) == closed {
		return nil
	}
	t.health.stop()
	close(t.quit)
	var err error
	ended := make(chan struct{})
	t.closing.Go(func() {
		defer close(ended)
		err = t.shutDown()
	})
	if await(ended, t.cfg.Patience, t.returned) {
		t.lines.wait(t.cfg.Patience)
		return err
	}
	t.giveUp()
	t.lines.wait(t.cfg.Patience)
	return errStuck
}

// returned is how many operations the disk has given back, reads among them: Close
// waits for those of a recovery, and of what is reclaimed, and no other begins any
// more.
func (t *Tier) returned() uint64 { return t.door.returned() + t.reader.Stats().Reads }

// shutDown is all that Close does to the disk, in this order: what is reclaimed
// must be before the index is saved, and the lock goes last.
func (t *Tier) shutDown() (err error) {
	t.stopRecovery()
	t.keeping.Wait()
	if !t.health.isOff() {
		err = t.saveAll()
	}
	t.log.close()
	t.journal.fail(errClosed)
	t.running.Wait()
	err = errors.Join(err, t.closeFiles())
	if t.void() == nil { // otherwise a write may yet ask for its note
		t.index.clear(nil)
	}
	_ = t.index.region.Decommit(0, t.index.region.Size())
	return errors.Join(err, t.lock.Close())
}

// giveUp lets go all who wait for the disk with Close: writes for a place in the
// journal, reads for a slot.
func (t *Tier) giveUp() {
	t.gaveUp.Store(true)
	t.log.close()
	t.journal.fail(errClosed)
	t.closing.Go(func() { _ = t.reader.Close() })
}

// Free gives the address space back. The caller knows that nobody can use the
// tier any more, not even to be told that it is closed. It waits for what is stuck
// in the system, which may yet write to the file from there, and for the user, who
// may be told of what leaves RAM.
func (t *Tier) Free() {
	t.closing.Wait()
	t.loose.Wait()
	if t.index != nil {
		_ = t.index.region.Release()
	}
	for _, b := range t.buffers {
		_ = offheap.Free(b)
	}
}

var (
	errClosed     = errors.New("ssd: closed")
	errStuckClear = errors.New("ssd: the disk does nothing; what lies there is cleared when it goes on")
	errStuck      = errors.New("ssd: the disk does not take what is to be written; what was written is there at the next Open")
)

// saveAll writes the rest of the log and the index, and marks the log clean once
// everything has reached the device.
func (t *Tier) saveAll() error {
	if err := t.noteLast(); err != nil {
		return err
	}
	l := t.log
	l.mu.Lock()
	if l.open != nil {
		l.seal()
	}
	l.mu.Unlock()
	end := l.lsn(l.nextSerial(), 0)
	if l.flushTo(end); l.flushed.Load() < end {
		return errStuck
	}
	if t.health.isOff() {
		return nil
	}
	if err := t.logFile.Sync(); err != nil {
		return t.lost(err)
	}
	if err := t.journal.file.Sync(); err != nil {
		return t.lost(err)
	}
	t.super.Lock()
	defer t.super.Unlock()
	s := &t.super.superblock
	s.snapshot = 0
	if !t.recovering.Load() && t.index.complete(t.floor.Load()) {
		id, err := t.saveSnapshot()
		if err != nil {
			t.lines.warn("firn: SSD tier: no snapshot of the index; the next Open reads the log", "error", err)
		}
		s.snapshot = id
	}
	s.clean, s.nextSeg, s.lastTime = true, l.nextSerial(), max(s.lastTime, t.Now())
	if err := writeSuperblock(t.super.file, s); err != nil {
		return err
	}
	t.super.saved = true
	if err := t.super.file.Sync(); err != nil {
		return err
	}
	return t.cfg.FS.SyncDir()
}

// noteLast writes the notes that writes still wait for.
func (t *Tier) noteLast() error {
	notes := t.index.unnoted()
	err := t.journal.commitNow(notes...)
	if errors.Is(err, errJournalFull) {
		t.restarting.Lock() // against a Clear: the keeper has ended
		t.fold()
		t.restarting.Unlock()
		err = t.journal.commitLast(notes...)
	}
	switch {
	case errors.Is(err, errClosed): // Close has given up: whose note is missing is told so
		return errStuck
	case err != nil:
		return t.lost(err)
	}
	return nil
}

// lost voids the log when it cannot be closed: after a sync that failed the system
// may have dropped what it had not written by then.
func (t *Tier) lost(cause error) error { return errors.Join(cause, t.void()) }

// closeFiles closes what is open, once nothing is under way there. What comes
// later finds the door closed.
func (t *Tier) closeFiles() error {
	var errs []error
	if t.reader != nil {
		errs = append(errs, t.reader.Close())
	}
	t.door.close()
	for _, f := range []vfs.File{t.logFile, t.super.file} {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	if t.journal != nil {
		errs = append(errs, t.journal.file.Close())
	}
	return errors.Join(errs...)
}

// abandon undoes an Open that failed.
func (t *Tier) abandon() {
	_ = t.closeFiles()
	_ = t.lock.Close()
	t.Free()
	t.lines.wait(t.cfg.Patience)
}
