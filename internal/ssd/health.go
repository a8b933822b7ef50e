package ssd

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// health follows how the disk does. A segment that cannot be written is given
// up; a tier whose disk fails again and again is switched off: RAM goes on
// alone, and the disk is tried again now and then, with an empty log.
type health struct {
	lines *lines

	mu        sync.Mutex
	cause     error // why the tier is off; nil: it is on
	badWrites int   // segments given up since one was written to its end
	healing   chan struct{}
	stopped   bool
	lastLog   time.Time
	unlogged  int

	unreadable unreadable
}

func (h *health) isOff() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.cause != nil
}

// logPause is how long there is between two lines about faults at least.
const logPause = 10 * time.Second

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
