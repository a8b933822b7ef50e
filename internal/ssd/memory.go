package ssd

import (
	"sync"
	"time"

	"github.com/firncache/firn/internal/ssd/index"
	"github.com/firncache/firn/internal/ssd/log"
)

// memoryAccount charges RAM for the memory that the tier takes, and allows the index
// as much as it has charged.
type memoryAccount struct {
	index  *index.Index
	log    *log.Log
	charge func(bytes int64) error // RAM: bytes more than before
	fixed  int64                   // bytes beside the index

	mu       sync.Mutex // a leaf; charge is called without it, for that may call the user
	charged  int64
	promised int64 // that the index is allowed once it is charged
}

// total is the memory of the tier, in bytes.
func (a *memoryAccount) total() int64 { return a.fixed + a.index.Allowed.Load() }

// allow gives the index memory, as much of it as can be had.
func (a *memoryAccount) allow(bytes int64) {
	more := min(bytes, a.index.Limit.Load()-a.index.Allowed.Load())
	for more > 0 && a.grow(more) != nil {
		more /= 2
	}
}

// chargePatience is how long each step of a charge to RAM waits for
// the disk at most.
const chargePatience = 200 * time.Millisecond

// grow charges the tier's memory, and allows the index more. RAM makes
// room for it by evicting, in steps which the log has room for: while the disk
// stands still, the rest is left for later.
func (a *memoryAccount) grow(more int64) error {
	for first := true; first || more > 0; first = false {
		step := min(more, int64(a.log.SegmentBytes()/16))
		if err := a.growStep(step); err != nil {
			return err
		}
		more -= step
		if !a.log.WaitRoom(chargePatience) {
			return nil
		}
	}
	return nil
}

// growStep allows the index more, once that and all that the tier takes is charged.
func (a *memoryAccount) growStep(more int64) error {
	a.mu.Lock()
	a.promised += more
	missing := a.total() + a.promised - a.charged
	a.charged += missing
	a.mu.Unlock()
	err := a.charge(missing)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.promised -= more
	if err != nil {
		a.charged -= missing
		return err
	}
	a.index.Allowed.Add(more)
	a.log.Broadcast() // who waits for room there
	return nil
}
