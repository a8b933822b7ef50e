package local

import (
	"context"
	"time"

	"github.com/firncache/firn/internal/ssd"
)

// pace shares the time of a Shutdown. Without its index the log is worth nothing after
// the machine was started again, so the end of the time is kept for saving that: twice as
// long as it takes at the speed at which the disk has written so far, but at least an
// eighth of the whole and at most half.
type pace struct {
	tier   *ssd.Tier
	began  time.Time
	whole  time.Duration
	latest time.Time // when the eighth begins; far away if there is no deadline

	before uint64 // bytes that had been written
	toSave int64  // bytes to write at the end
}

// newPace is the pace of a Shutdown that begins now, with so many records in RAM.
func newPace(ctx context.Context, tier *ssd.Tier, records int) *pace {
	p := &pace{tier: tier, began: time.Now(), before: tier.WrittenBytes(), toSave: tier.BytesToSave(records)}
	deadline, ok := ctx.Deadline()
	if !ok {
		deadline = p.began.Add(MaxTTL)
	}
	p.whole = deadline.Sub(p.began)
	p.latest = deadline.Add(-p.whole / 8)
	return p
}

// late reports whether the rest of the time is for the index.
func (p *pace) late() bool {
	passed := time.Since(p.began)
	left := p.whole - passed
	if left > p.whole/2 {
		return false
	}
	written := p.tier.WrittenBytes() - p.before
	return float64(left)*float64(written) < 2*float64(passed)*float64(p.toSave)
}
