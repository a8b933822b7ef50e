package ram

import (
	"fmt"

	"github.com/firncache/firn/internal/evicted"
)

// Full reports whether records were evicted since there was room for all.
func (t *Tier) Full() bool { return t.full.Load() }

// SetBytes changes the budget. When it returns, no more than that is in use, and
// freed memory is given back to the system. If another call changes the budget
// meanwhile, the later one holds for both. OnEvict is called in steps, between which
// no lock is held.
func (t *Tier) SetBytes(bytes int64) error {
	shrinks, err := t.setBytes(bytes)
	switch {
	case err != nil:
		return err
	case shrinks:
		t.shrink(false)
	default:
		t.full.Store(false) // it may fill again
		t.pool.WakePrefaulter()
	}
	return nil
}

func (t *Tier) setBytes(bytes int64) (shrinks bool, err error) {
	t.resizing.Lock()
	defer t.resizing.Unlock()
	least, most := t.minBytes(), t.maxBytes()
	if bytes < least || bytes > most {
		return false, fmt.Errorf("ram: %d bytes: want %d to %d", bytes, least, most)
	}
	shrinks = bytes < t.bytes.Load()
	t.setLimit(bytes)
	return shrinks || t.pool.OverTarget(), nil // or another call shrinks
}

// Reserve reserves bytes of the budget for the lower tier's memory, or gives them
// back if negative. When it returns, both tiers together use no more than the
// budget. It fails, and changes nothing, if too little would be left for this tier,
// or if more is given back than was reserved. The caller holds no lock that the
// lower tier or OnEvict take. Memory that records have used comes back in small
// pages, so bytes that are known of early are best reserved early.
func (t *Tier) Reserve(bytes int64) error {
	if err := t.addReserved(bytes); err != nil {
		return err
	}
	t.shrink(true)
	t.pool.WakePrefaulter()
	return nil
}

func (t *Tier) addReserved(bytes int64) error {
	t.resizing.Lock()
	defer t.resizing.Unlock()
	reserved := t.reserved.Load() + bytes
	if most := t.bytes.Load() - t.minOwn(); reserved < 0 || bytes > 0 && reserved > most {
		return fmt.Errorf("ram: %d bytes for the lower tier: want 0 to %d", reserved, most)
	}
	t.reserved.Store(reserved)
	if t.closed.Load() { // and the segments may be released
		return nil
	}
	t.setLimit(t.bytes.Load())
	return nil
}

// shrink reclaims until no more segments are in use than may be, a step at a time,
// and calls OnEvict after each. Then it gives the memory of free ones back to the
// system, of all or, if spare ones may keep it, until no more have any than may be
// in use. A panic of OnEvict reaches the caller when that is done.
func (t *Tier) shrink(keepSpare bool) {
	done := false
	defer func() {
		if !done {
			t.shrink(keepSpare)
		}
	}()
	for more := true; more; {
		var ev evicted.List
		event, stuck := t.pool.LastEvent(), false
		more, stuck = t.shrinkStep(&ev)
		t.finishDemotions(&ev)
		ev.Notify()
		if stuck && !t.pool.Await(event) {
			break // only the indexes hold segments
		}
	}
	done = true
	for i := range t.shards {
		t.shards[i].buryAll()
	}
	t.pool.Lower(t.stepSegments()) // by what that gave back
	for n := t.pool.Trimmable(keepSpare); n > 0; n -= t.stepSegments() {
		t.trimStep(keepSpare)
	}
}

// stepSegments is how many segments make a step.
func (t *Tier) stepSegments() int { return evicted.Step >> t.segShift }

// shrinkStep lowers the limit by a step and reclaims the segments beyond it. It reports
// whether there is more to do, and whether no shard holds anything to reclaim:
// writes may hold segments for a moment.
func (t *Tier) shrinkStep(ev *evicted.List) (more, stuck bool) {
	t.janitor.sweeping.Lock() // Close waits for it, and then nothing is touched any more
	defer t.janitor.sweeping.Unlock()
	if t.closed.Load() {
		return false, false
	}
	goal, more := t.pool.Lower(t.stepSegments())
	for t.pool.Over(goal) && !ev.Full() && ev.DemoteFirst == 0 {
		if freed, _ := t.victimShard(&t.shards[0]).reclaim(ev, always); !freed {
			return more || ev.DemoteFirst != 0, ev.DemoteFirst == 0
		}
	}
	return more, false
}

// trimStep gives the memory of some free segments back to the system.
func (t *Tier) trimStep(keepSpare bool) {
	t.janitor.sweeping.Lock() // no prefault meanwhile
	defer t.janitor.sweeping.Unlock()
	if t.closed.Load() {
		return
	}
	t.region.AdviseSmall() // else the system fills the holes with huge pages
	t.pool.Trim(keepSpare, t.stepSegments(), t.decommit)
}

// decommit gives the memory of n segments back.
func (t *Tier) decommit(first, n uint32) {
	// A failure leaves memory with us that the budget no longer counts; nothing
	// can be done about it.
	_ = t.region.Decommit(uint64(first)<<t.segShift, uint64(n)<<t.segShift)
}
