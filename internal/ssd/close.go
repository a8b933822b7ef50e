package ssd

import (
	"errors"
	"time"

	"github.com/firncache/firn/internal/offheap"
	"github.com/firncache/firn/internal/vfs"
)

// Close writes what is in memory, saves the index and closes the files. The
// caller lets no write begin any more: Superseded and Demote have returned. Reads
// may be under way, and Commit may come later.
func (t *Tier) Close() error {
	if t.state.Swap(closed) == closed {
		return nil
	}
	t.health.stop()
	close(t.quit)
	var err error
	switch {
	case !t.ends(func() { t.stopRecovery(); t.keeping.Wait() }): // what is reclaimed must be before the index is saved
		err = errStuck
	case !t.health.isOff():
		err = t.saveAll()
	}
	t.log.close()
	t.journal.fail(errClosed)
	if !t.health.stuck.Load() && !t.ends(t.running.Wait) && err == nil {
		err = errStuck
	}
	err = errors.Join(err, t.closeFiles())
	if !t.health.stuck.Load() && t.void() == nil { // otherwise a write may yet ask for its note
		t.index.clear(nil)
	}
	_ = t.index.region.Decommit(0, t.index.region.Size())
	t.lines.wait(t.cfg.Patience)
	return err
}

// ends waits for goroutines of the tier, but no longer than its patience: what is
// stuck in the system keeps its goroutine, and what that can reach.
func (t *Tier) ends(wait func()) bool {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		wait()
	}()
	timer := time.NewTimer(t.cfg.Patience)
	defer timer.Stop()
	select {
	case <-ended:
		return true
	case <-timer.C:
		t.health.stuck.Store(true)
		return false
	}
}

// Free gives the address space back. The caller knows that nobody can use the
// tier any more, not even to be told that it is closed.
func (t *Tier) Free() {
	if t.health.stuck.Load() {
		return // the system may yet write to the file from there
	}
	if t.index != nil {
		_ = t.index.region.Release()
	}
	for _, b := range t.buffers {
		_ = offheap.Free(b)
	}
}

var (
	errClosed = errors.New("ssd: closed")
	errStuck  = errors.New("ssd: the disk does not take what is to be written; what was written is there at the next Open")
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
	if !l.flushWithin(l.lsn(l.nextSerial(), 0), t.cfg.Patience) {
		t.health.stuck.Store(true)
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
	if !t.recovering.Load() && t.index.complete() {
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

// noteLast writes the notes that writes still wait for. It does not wait for ever
// for a disk that is stuck.
func (t *Tier) noteLast() error {
	done := make(chan error, 1)
	go func() {
		notes := t.index.unnoted()
		err := t.journal.commitNow(notes...)
		if errors.Is(err, errJournalFull) {
			t.restarting.Lock() // against a Clear: the keeper has ended
			t.fold()
			t.restarting.Unlock()
			err = t.journal.commitLast(notes...)
		}
		done <- err
	}()
	select {
	case err := <-done:
		if err != nil {
			return t.lost(err)
		}
		return nil
	case <-time.After(t.cfg.Patience):
		t.health.stuck.Store(true)
		return errStuck
	}
}

// lost voids the log when it cannot be closed: after a sync that failed the system
// may have dropped what it had not written by then.
func (t *Tier) lost(cause error) error { return errors.Join(cause, t.void()) }

// closeFiles closes what is open.
func (t *Tier) closeFiles() error {
	var errs []error
	if t.reader != nil {
		errs = append(errs, t.reader.Close())
	}
	for _, f := range []vfs.File{t.logFile, t.super.file} {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	if t.journal != nil {
		errs = append(errs, t.journal.file.Close())
	}
	return errors.Join(append(errs, t.lock.Close())...)
}

// abandon undoes an Open that failed.
func (t *Tier) abandon() {
	_ = t.closeFiles()
	t.Free()
	t.lines.wait(t.cfg.Patience)
}
