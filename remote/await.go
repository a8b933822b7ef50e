package remote

import (
	"context"
	"fmt"
	"time"

	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/remote/internal/entry"
)

// unannounced is how long a lease is waited for before it is looked at again, if the server does
// not announce changes.
const unannounced = 50 * time.Millisecond

// Await waits until the entry that was to be expected with ErrLeased is there no more: for an
// announcement, or until the lease is over. For another process's it waits LeaseTime at most.
func (t *sharedTier) Await(ctx context.Context, key []byte, leased shared.Expect) error {
	t.count.leaseWaits.Add(1)
	for end := time.Now().Add(t.o.LeaseTime); ; {
		over, err := t.awaitChange(ctx, key, leased, end)
		if over || err != nil {
			return err
		}
	}
}

// awaitChange waits until the lease has changed, as it does when it is extended, too, or its time
// is over. It reports true if it is there no more.
func (t *sharedTier) awaitChange(ctx context.Context, key []byte, leased shared.Expect, end time.Time) (over bool, err error) {
	entry, leaveEntry := t.awaits.join(t.names.Entry(key))
	defer leaveEntry()
	beside, leaveBeside := t.awaits.join(t.names.Beside(key))
	defer leaveBeside()
	left, pushed, err := t.leaseLeft(ctx, key, leased.Version)
	if err != nil || left <= 0 {
		return true, err
	}
	enough := time.Until(end)
	if t.holding.has(heldLease{t.names.Entry(key), leased.Version}) {
		enough = left
	}
	if enough <= 0 {
		t.count.leasesExpired.Add(1)
		return true, shared.ErrLeased
	}
	if !pushed {
		left = min(left, unannounced)
	}
	timer := time.NewTimer(min(left, enough))
	defer timer.Stop()
	select {
	case <-entry:
	case <-beside:
	case <-timer.C: // whose time is over is not there
	case <-ctx.Done():
		err = ctx.Err()
	case <-t.done:
		err = fmt.Errorf("%w: %w", shared.ErrUnavailable, errClosed)
	}
	return false, err
}

// leaseLeft is how long the lease lives of an entry that has a version: 0 if there is none, or
// another entry. pushed says whether its end will be announced.
func (t *sharedTier) leaseLeft(ctx context.Context, key []byte, version shared.Version) (left time.Duration, pushed bool, err error) {
	name, isLease := t.names.Entry(key), false
	err = t.askOwner(ctx, name, func(w *wire, _ int) error {
		pushed = w.announces()
		left, isLease, err = w.leaseOf(ctx, name, version)
		return err
	})
	if err != nil || isLease || left == 0 {
		return left, pushed, err
	}
	name = t.names.Beside(key)
	err = t.askName(ctx, name, func(w *wire) error {
		left, err = w.lifeOf(ctx, name)
		return err
	})
	return left, pushed, err
}

// leaseOf is how long an entry lives that has a version, and whether it is a lease.
func (w *wire) leaseOf(ctx context.Context, name string, version shared.Version) (left time.Duration, isLease bool, err error) {
	results := w.doMulti(ctx, getRange(name, 0, entry.Len), command("PTTL", name))
	b, err := w.t.answer(&results[0])
	if err != nil && !isServerError(err, "WRONGTYPE") {
		return 0, false, w.serverError(err)
	}
	h, ok := entry.Parse(b)
	if !ok || h.Version != version {
		return 0, false, nil
	}
	ms, err := results[1].AsInt64()
	return w.life(ms), h.Flags&entry.FlagLease != 0, w.serverError(err)
}

// lifeOf is how long what lies under a name lives; 0 if there is nothing.
func (w *wire) lifeOf(ctx context.Context, name string) (time.Duration, error) {
	ms, err := w.do(ctx, command("PTTL", name)).AsInt64()
	return w.life(ms), w.serverError(err)
}

// life is what PTTL answers, and a little more, after which it is over: below 0 there is
// nothing, or something that lives for ever.
func (w *wire) life(ms int64) time.Duration {
	switch {
	case ms == -1:
		return w.t.o.LeaseTime
	case ms < 0:
		return 0
	}
	return time.Duration(ms+1) * time.Millisecond
}

// announces reports whether the server announces changes.
func (w *wire) announces() bool {
	c := w.real().state.Load().conn
	return c != nil && c.server.tracking
}
