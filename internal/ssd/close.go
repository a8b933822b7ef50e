package ssd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/firncache/firn/internal/offheap"
	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/vfs"
)

// Close writes the segments in memory, saves the index and closes the files. The
// caller lets no write begin any more: Invalidate and Demote have returned. Reads
// may be under way.
//
// It waits until ctx ends, and for the disk as long as that does something. Then it gives
// up: nothing more begins on the disk, and the files are as a process leaves them that is
// killed. A stuck operation has its own goroutine, which closes the files when the disk
// gives it back; until then the directory stays locked, for the system may yet write
// there.
func (t *Tier) Close(ctx context.Context) error {
	if t.state.Swap(closed) == closed {
		return nil
	}
	t.health.Stop()
	close(t.work.quit)
	if ctx.Err() != nil {
		t.giveUp()
	}
	var err error
	ended := make(chan struct{})
	t.work.closing.Go(func() {
		defer close(ended)
		err = t.shutDown()
	})
	if why := awaitProgress(ctx, ended, t.cfg.StallTimeout, t.opsReturned); why != nil {
		t.giveUp()
		t.Lost() // before the stuck operation comes back
		t.health.Wait(ctx, t.cfg.StallTimeout)
		return why
	}
	t.health.Wait(ctx, t.cfg.StallTimeout)
	return err
}

// opsReturned is how many operations the disk has given back, reads among them: Close
// waits for those of a recovery, and of reclaiming, and no other begins any
// more.
func (t *Tier) opsReturned() uint64 { return t.tracked.Returned() + t.reader.Stats().Reads }

// shutDown is all that Close does to the disk, in this order: what is reclaimed
// must be before the index is saved, and the lock goes last.
func (t *Tier) shutDown() (err error) {
	t.work.maintaining.Wait()
	saved := t.health.IsOffline() // there is nothing
	switch {
	case !t.started: // the files, and the memory of an earlier process, stay as they were
		saved = t.index.Memory != t.leftMemory
	case !saved:
		saved, err = t.saveAll()
	}
	t.saved.Store(saved)
	t.log.Close()
	t.work.running.Wait()
	err = errors.Join(err, t.closeFiles())
	t.Lost() // as long as the index is there
	t.leaveMemory(saved)
	return errors.Join(err, t.lock.Close())
}

// leaveMemory gives up the memory of the index, while the directory is still locked: the next
// process goes on with it, but where forget is set, for there is no need. Reads may yet
// search there, and find nothing.
func (t *Tier) leaveMemory(forget bool) {
	if t.index != nil {
		t.registry.End()
		t.index.WithAllLocked(func() {
			if forget {
				t.index.Forget()
			} else {
				t.index.Leave()
			}
		})
	}
	if left := t.leftMemory; left != nil && (t.index == nil || left != t.index.Memory) {
		left.Leave()
	}
}

// giveUp has nothing more begin on the disk, and lets go all who wait for it with Close:
// reads for a slot.
func (t *Tier) giveUp() {
	t.gaveUp.Store(true)
	t.tracked.Refuse()
	t.log.Close()
	t.work.closing.Go(func() { _ = t.reader.Close() })
}

// Free gives the address space back. The caller knows that the tier is no longer
// reachable, not even for a call that fails because it is closed. It waits for stuck operations
// in the system, which may yet write to the file from there, and for the user's
// calls that report records which leave RAM.
func (t *Tier) Free() {
	t.work.closing.Wait()
	t.work.detached.Wait()
	if t.index != nil {
		t.index.Release()
	}
	if left := t.leftMemory; left != nil && (t.index == nil || left != t.index.Memory) {
		left.Release()
	}
	for _, b := range t.allocated {
		_ = offheap.Free(b)
	}
}

var errStalled = errors.New("ssd: the disk does not take what is to be written; what was written is there at the next Open")

// saveAll writes the rest of the log and the index, and marks the log clean once
// everything has reached the device. It reports whether it did: if not, the index is
// where it was.
func (t *Tier) saveAll() (saved bool, err error) {
	if err := t.shrink(); err != nil {
		return false, err
	}
	l := t.log
	if !l.FlushAll() {
		return false, errStalled
	}
	if t.health.IsOffline() {
		return true, nil
	}
	if err := t.logFile.Sync(); err != nil {
		if !errors.Is(err, fs.ErrClosed) { // the sync has begun: it may have dropped pages that it had not written by then
			t.index.Head.Valid.Store(0)
		}
		return false, err
	}
	number, err := t.saveIndex()
	if err != nil {
		return false, fmt.Errorf("ssd: the index cannot be saved, and after a restart of the machine the tier starts empty: %w", err)
	}
	err = t.super.writeSynced(func(s *format.Superblock) {
		s.Snapshot, s.Budget = number, t.admission.Budget.State(true)
		s.Clean, s.NextSegment, s.LastTime = true, l.NextSerial(), max(s.LastTime, t.Now())
	})
	if err != nil {
		return false, err
	}
	t.saved.Store(true) // The other place gets it too, should the first be damaged later.
	return true, errors.Join(t.super.writeSynced(func(*format.Superblock) {}), t.cfg.FS.SyncDir())
}

// saveIndex is saveSnapshot, if the directory is the one that was opened.
func (t *Tier) saveIndex() (number uint64, err error) {
	if err := t.super.inPlace(t.cfg.FS); err != nil {
		return 0, err
	}
	return t.saveSnapshot()
}

// shrink empties the surplus slots and cuts the file. Nothing is appended meanwhile but
// what it moves.
func (t *Tier) shrink() error {
	t.keepRoom(true)
	t.shrinking.Store(true)
	defer t.shrinking.Store(false)
	for t.log.InSurplus() {
		if !t.makeRoom() && (!t.log.FlushAll() || !t.makeRoom()) { // one was not sealed
			return errStalled
		}
	}
	return t.cutFile()
}

// closeFiles closes the open files, once nothing is under way there. Whatever comes
// later finds the files closed.
func (t *Tier) closeFiles() error {
	var errs []error
	if t.reader != nil {
		errs = append(errs, t.reader.Close())
	}
	t.tracked.Close()
	for _, f := range []vfs.File{t.logFile, t.super.file} {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	return errors.Join(errs...)
}

// awaitProgress waits for done, until ctx ends, and as long as operations come back, of
// which returned is how many have: errStalled says that for patience none has.
func awaitProgress(ctx context.Context, done <-chan struct{}, patience time.Duration, returned func() uint64) error {
	const looks = 4 // within patience
	timer := time.NewTicker(max(patience/looks, 1))
	defer timer.Stop()
	for last, still := returned(), 0; still < looks; {
		select {
		case <-done:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-timer.C:
		}
		still++
		if now := returned(); now != last {
			last, still = now, 0
		}
	}
	return errStalled
}
