package ssd

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/firncache/firn/internal/ssd/files"
)

// unreadable is the records that the disk last failed to read. A record that it
// fails to read again is given up: the place is bad. Many different ones in a row
// may be one place, too, or the whole disk: what lies elsewhere tells.
type unreadable struct {
	row atomic.Int32 // failures since a read went well

	mu   sync.Mutex
	lsns [2 * mostBadReads]uint64 // the last, in a ring
	next int
}

// mostBadReads is how many failures in a row, at most two of each record, make one
// look whether the disk can read at all.
const mostBadReads = 32

// readWell ends a row.
func (u *unreadable) readWell() {
	if u.row.Load() != 0 {
		u.row.Store(0)
	}
}

// add adds a record. It reports whether that is there already, and how many
// failures are in a row.
func (u *unreadable) add(lsn uint64) (again bool, row int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	again = slices.Contains(u.lsns[:], lsn)
	if !again {
		u.lsns[u.next] = lsn
		u.next = (u.next + 1) % len(u.lsns)
	}
	return again, int(u.row.Add(1))
}

// readFailed is what a read ends with that brought no bytes. If that was the
// disk's fault it costs the record, and, if nothing else can be read either, the
// tier is switched off.
func (t *Tier) readFailed(ctx context.Context, sp *spot, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case slow(err):
		return err
	case !t.still(sp):
		return ErrChanged
	}
	t.count.readErrors.Add(1)
	t.health.log("a read failed", "error", err)
	again, row := t.health.unreadable.add(sp.lsn)
	if again {
		t.lose(sp)
	}
	if row >= mostBadReads && !t.readsElsewhere(sp.slot) {
		t.switchOff(fmt.Errorf("%d reads in a row failed: %w", row, err))
	}
	return err
}

// readsElsewhere reports whether the disk reads another segment than the one in a
// slot, or is too slow to tell. It tries two, from half the log away on.
func (t *Tier) readsElsewhere(slot int) bool {
	tries := 2
	n := len(t.log.slots)
	for i := range n {
		other := (slot + n/2 + i) % n
		serial := t.log.words[other].Serial.Load()
		if other == slot || serial == 0 || t.inMemory(other, serial) {
			continue
		}
		buf, err := t.reader.Try(background, t.reader.Deadline(), int64(other)<<t.log.SegmentShift, files.BlockBytes)
		if err == nil {
			buf.Release()
			t.health.unreadable.readWell()
		}
		if err == nil || slow(err) {
			return true
		}
		if tries--; tries == 0 {
			break
		}
	}
	return false
}

// inMemory reports whether a segment may not be on the disk yet.
func (t *Tier) inMemory(slot int, serial uint64) bool {
	s := t.log.pin(slot, serial)
	if s != nil {
		t.log.unpin(s)
	}
	return s != nil
}
