package wire

import (
	"context"
	"sync/atomic"
	"time"
)

// patience gives requests their time. Those of callers who give none of their own, and that begin at
// about the same time, have one timer: it ends them by up to patienceShare of their time earlier.
type patience struct{ present atomic.Pointer[span] }

// span is what several requests have.
type span struct {
	context.Context
	stop  context.CancelFunc // is not called: it ends by its time
	began time.Time
	lasts time.Duration
}

const patienceShare = 32

// with is context.WithTimeout.
func (p *patience) with(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if ctx.Done() != nil {
		return context.WithTimeout(ctx, d)
	}
	now := time.Now()
	s := p.present.Load()
	if s == nil || s.lasts != d || now.Sub(s.began) >= d/patienceShare {
		s = &span{began: now, lasts: d}
		s.Context, s.stop = context.WithDeadline(ctx, now.Add(d))
		p.present.Store(s)
	}
	return s, func() {}
}
