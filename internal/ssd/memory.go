package ssd

import "time"

// allow gives the index memory, as much of it as can be had.
func (t *Tier) allow(bytes int64) {
	more := min(bytes, t.index.limit.Load()-t.index.allowed.Load())
	for more > 0 && t.chargeMemory(more) != nil {
		more /= 2
	}
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
	t.log.broadcast() // who waits for room there
	return nil
}
