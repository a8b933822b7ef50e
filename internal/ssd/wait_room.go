package ssd

import (
	"fmt"
	"time"

	"github.com/firncache/firn/internal/ssd/format"
)

// WaitForRoom reports whether a record that is about to leave RAM finds room here. While the
// log is stalled, or the index waits for memory, it first waits for that, as long
// as Config.MaxWriteStall, less the time that the caller has waited already. It returns
// how long that is by then. It does not wait for a disk that does nothing. A tier
// that is off is ready: it will not be more so soon.
func (t *Tier) WaitForRoom(waited time.Duration) (inAll time.Duration, ok bool) {
	l := t.log
	if t.HasRoom() || t.state.Load() != on {
		return waited, true
	}
	now := l.Flushed.Load()
	if waited >= t.cfg.MaxWriteStall || l.Stalled.Load() && t.waits.stalledAtLSN.Load() == now+1 {
		return waited, false
	}
	began := time.Now()
	if ok = l.WaitRoom(t.cfg.MaxWriteStall - waited); !ok {
		t.waits.stalledAtLSN.Store(now + 1)
	}
	ok = ok && t.waitIndex(t.cfg.MaxWriteStall-waited-time.Since(began))
	return waited + time.Since(began), ok
}

// HasRoom reports whether a record that leaves RAM finds room here at once.
func (t *Tier) HasRoom() bool { return !t.log.Stalled.Load() && !t.index.LowOnMemory() }

// Losses counts the records that went other than for a write or a Clear above, and how often all of
// them did, the tier being off. ok reports whether it is on.
func (t *Tier) Losses() (records, all uint64, ok bool) {
	c := &t.count
	records = c.evicted.Load() + c.expired.Load() + c.corrupt.Load() + c.collided.Load() + c.readErrors.Load()
	return records, c.switchedOff.Load(), t.state.Load() == on
}

// AwaitRoom waits until the log has room, and the index, or will have no more. It
// reports false if the disk does nothing, or the tier is off.
func (t *Tier) AwaitRoom() bool {
	if t.state.Load() != on || !t.log.WaitRoom(t.cfg.StallTimeout) {
		return false
	}
	t.waitIndex(t.cfg.StallTimeout)
	return true
}

// WhyNoRoom is why AwaitRoom reported false.
func (t *Tier) WhyNoRoom() error {
	if cause := t.health.Cause(); cause != nil {
		return fmt.Errorf("ssd: the tier is off: %w", cause)
	}
	return errStalled
}

// waitIndex waits while the index is short of memory, for patience at most, but
// not where another did in vain. It reports whether the index is short no more.
func (t *Tier) waitIndex(patience time.Duration) bool {
	x := t.index
	if !x.LowOnMemory() {
		return true
	}
	now := x.Allowed.Load()
	if t.waits.starvedAtBytes.Load() == now+1 {
		return false
	}
	t.work.wakeMaintenance()
	ok := t.log.WaitFor(patience, func() bool { return !x.LowOnMemory() || t.state.Load() == offline })
	if !ok {
		t.waits.starvedAtBytes.Store(now + 1)
	}
	return ok
}

// Hurry ends every wait for room, and lets none begin: there is no time left.
func (t *Tier) Hurry() { t.log.Hurry() }

// Room is how many bytes of records the tier has room for, 0 while it is offline, whether it
// has evicted to make room, and how many reads have found a value. It takes no lock.
func (t *Tier) Room() (bytes int64, evicting bool, hits uint64) {
	if t.state.Load() == on {
		each := t.log.SegmentBytes() - format.SegmentHeaderLen - format.TrailerLen
		bytes = (t.log.Usable.Load() - int64(t.log.FreeTarget)) * int64(each)
	}
	return bytes, t.count.evicted.Load()+t.count.reinserted.Load() > 0, t.count.hits.Load()
}
