package health

import (
	"slices"
	"sync"
	"sync/atomic"
)

// BadReads is the records that the disk last failed to read. A record that it
// fails to read again is dropped: the place is bad. Many different ones in a row
// may be one place, too, or the whole disk: reads of other places show which.
type BadReads struct {
	row atomic.Int32 // failures since a read went well

	mu   sync.Mutex
	lsns [2 * MaxRow]uint64 // the last, in a ring
	next int
}

// MaxRow is how many failures in a row, at most two of each record, make one
// check whether the disk can read at all.
const MaxRow = 32

// OK ends a row.
func (u *BadReads) OK() {
	if u.row.Load() != 0 {
		u.row.Store(0)
	}
}

// Add adds a record. It reports whether that is there already, and how many
// failures are in a row.
func (u *BadReads) Add(lsn uint64) (again bool, row int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	again = slices.Contains(u.lsns[:], lsn)
	if !again {
		u.lsns[u.next] = lsn
		u.next = (u.next + 1) % len(u.lsns)
	}
	return again, int(u.row.Add(1))
}
