package ssd

import (
	"time"

	"github.com/firncache/firn/internal/ssd/format"
)

// Ready reports whether what is about to leave RAM finds room here. While the
// disk is behind, or the index waits for memory, it first waits for that, as long
// as Config.Throttle, less what the caller has waited already. It returns how long
// that is by then. It does not wait for a disk that does nothing. A tier that is
// off is ready: it will not be more so soon.
func (t *Tier) Ready(waited time.Duration) (inAll time.Duration, ok bool) {
	l := t.log
	if !l.behind.Load() && !t.index.short() || t.state.Load() != on {
		return waited, true
	}
	now := l.flushed.Load()
	if waited >= t.cfg.Throttle || l.behind.Load() && t.stuckAt.Load() == now+1 {
		return waited, false
	}
	began := time.Now()
	if ok = l.waitRoom(t.cfg.Throttle - waited); !ok {
		t.stuckAt.Store(now + 1)
	}
	ok = ok && t.waitIndex(t.cfg.Throttle-waited-time.Since(began))
	return waited + time.Since(began), ok
}

// WaitRoom waits until the log has room, and the index, or will have no more. It
// reports false if the disk does nothing, or the tier is off.
func (t *Tier) WaitRoom() bool {
	if t.state.Load() != on || !t.log.waitRoom(t.cfg.Patience) {
		return false
	}
	t.waitIndex(t.cfg.Patience)
	return true
}

// waitIndex waits while the index is short of memory, for patience at most, but
// not where somebody did in vain. It reports whether the index is short no more.
func (t *Tier) waitIndex(patience time.Duration) bool {
	x := t.index
	if !x.short() {
		return true
	}
	now := x.allowed.Load()
	if t.starvedAt.Load() == now+1 {
		return false
	}
	t.poke()
	ok := t.log.waitFor(patience, func() bool { return !x.short() || t.state.Load() == off })
	if !ok {
		t.starvedAt.Store(now + 1)
	}
	return ok
}

// chargePatience is how long each step of what RAM lends to the tier waits for
// the disk at most.
const chargePatience = 200 * time.Millisecond

// chargeMemory tells what the tier takes, and allows the index more. RAM makes
// room for it by evicting, in steps which the log has room for: while the disk
// stands still, what has not been allowed is left for later.
func (t *Tier) chargeMemory(more int64) error {
	for first := true; first || more > 0; first = false {
		step := min(more, int64(t.log.SegmentBytes()/16))
		if err := t.chargeStep(step); err != nil {
			return err
		}
		more -= step
		if !t.log.waitRoom(chargePatience) {
			return nil
		}
	}
	return nil
}

// chargeStep allows the index more, once that and all that the tier takes is
// charged. RAM tells the user of what leaves for it: no lock is held meanwhile.
func (t *Tier) chargeStep(more int64) error {
	t.charging.Lock()
	t.promised += more
	missing := t.fixed + t.index.allowed.Load() + t.promised - t.charged
	t.charged += missing
	t.charging.Unlock()
	err := t.charge(missing)
	t.charging.Lock()
	defer t.charging.Unlock()
	t.promised -= more
	if err != nil {
		t.charged -= missing
		return err
	}
	t.index.allowed.Add(more)
	t.log.announce() // who waits for room there
	return nil
}

// poke wakes the keeper.
func (t *Tier) poke() {
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// keep is the tier's housekeeping: it makes room in the log, gives the index
// memory, and writes what has waited for long.
func (t *Tier) keep() {
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for {
		select {
		case <-t.quit:
			return
		case <-tick.C:
			t.log.tick()
			t.index.limit.Store(t.index.most) // RAM may have some to give again
			t.noteRoom()
			if t.expires.Load() {
				t.log.kept.NoteTime(t.Now())
			}
		case <-t.wake:
		}
		t.tidy()
	}
}

// tidy does what there is to do.
func (t *Tier) tidy() {
	if t.state.Load() != on {
		return
	}
	for t.makeRoom() {
		select {
		case <-t.quit:
			return
		default:
		}
	}
	if t.admission.budget.due() {
		t.saveBudget()
	}
	if more := t.index.wantsMemory(); more > 0 && !t.log.behind.Load() && t.growing.CompareAndSwap(false, true) {
		t.loose.Go(func() { t.grow(more) })
	}
}

// saveBudget makes the superblock say what was written.
func (t *Tier) saveBudget() {
	err := t.super.write(func(s *format.Superblock) { s.Budget = t.admission.budget.state(false) })
	if err != nil {
		t.health.log("the superblock could not be written", "error", err) // the lease stands
	}
}

// grow gives the index more memory. It has a goroutine of its own: what leaves
// RAM for it is reported to the user, who may write to the cache, and a write may
// have to wait for the keeper. Nor does Close wait, for he may call that: RAM is
// closed then, and has nothing left to report. Free waits, for RAM's memory goes
// after it.
func (t *Tier) grow(more int64) {
	if t.chargeMemory(more) != nil {
		t.index.limit.Store(t.index.allowed.Load()) // RAM has no more to give, until the next tick
		t.log.announce()
	}
	t.growing.Store(false)
	t.poke() // it may want more by now
}

// makeRoom reclaims a segment, if there is need to. It reports whether there may be
// more to do.
func (t *Tier) makeRoom() bool {
	t.restarting.Lock()
	defer t.restarting.Unlock()
	return t.reclaim()
}
