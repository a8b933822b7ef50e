package ssd

import (
	"errors"
	"time"
)

var errStuckNote = errors.New("ssd: the disk does nothing; a write waits for its note")

// watchdog switches the tier off when writes wait for their notes and the disk does
// nothing for Config.Patience, so that they are let go: be it the note that is
// stuck, or the keeper, who makes room for it, or the recovery, without which there
// is no room to be had.
func (t *Tier) watchdog() {
	const looks = 4 // within patience
	tick := time.NewTicker(max(t.cfg.Patience/looks, 1))
	defer tick.Stop()
	for last, still := t.progress(), 0; ; {
		select {
		case <-t.quit:
			return
		case <-tick.C:
		}
		still++
		if now := t.progress(); now != last || t.state.Load() != on || !t.journal.waitedFor() {
			last, still = now, 0
		}
		if still >= looks {
			t.switchOff(errStuckNote)
		}
	}
}

// progress grows with what the disk does for those who wait for a note.
func (t *Tier) progress() uint64 { return t.door.returned() + t.count.recovered.Load() }
