package ssd

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// health counts the faults of the disk. A segment that cannot be written is
// abandoned; a tier whose disk fails again and again goes offline: RAM goes on
// alone, and the disk is tried again now and then, with an empty log.
type health struct {
	logger *asyncLogger

	mu        sync.Mutex    // a leaf but for the logger's
	cause     error         // why the tier is offline; nil: it is not
	badWrites int           // segments abandoned since one was written to its end
	retrying  chan struct{} // closed when retryLoop is to end; nil: there is none
	stopped   bool
	lastLog   time.Time
	unlogged  int
	story     story

	badReads badReads
}

func (h *health) isOffline() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.cause != nil
}

// logPause is the least time between two lines about faults.
const logPause = 10 * time.Second

// log writes a line about a fault, but no flood of them.
func (h *health) log(what string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.story.fault(what, args)
	if time.Since(h.lastLog) < logPause {
		h.unlogged++
		return
	}
	h.lastLog = time.Now()
	h.logger.warn("firn: SSD tier: "+what, append(args, "not_logged", h.unlogged)...)
	h.unlogged = 0
}

// stop ends the retries, for good.
func (h *health) stop() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stopped = true
	if h.retrying != nil {
		close(h.retrying)
		h.retrying = nil
	}
}

// badReads is the records that the disk last failed to read. A record that it
// fails to read again is dropped: the place is bad. Many different ones in a row
// may be one place, too, or the whole disk: reads of other places tell.
type badReads struct {
	row atomic.Int32 // failures since a read went well

	mu   sync.Mutex
	lsns [2 * maxBadReads]uint64 // the last, in a ring
	next int
}

// maxBadReads is how many failures in a row, at most two of each record, make one
// check whether the disk can read at all.
const maxBadReads = 32

// readOK ends a row.
func (u *badReads) readOK() {
	if u.row.Load() != 0 {
		u.row.Store(0)
	}
}

// add adds a record. It reports whether that is there already, and how many
// failures are in a row.
func (u *badReads) add(lsn uint64) (again bool, row int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	again = slices.Contains(u.lsns[:], lsn)
	if !again {
		u.lsns[u.next] = lsn
		u.next = (u.next + 1) % len(u.lsns)
	}
	return again, int(u.row.Add(1))
}
