package remote

import (
	"context"
	"fmt"
	"time"

	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/remote/internal/command"
	"github.com/firncache/firn/remote/internal/entry"
	"github.com/firncache/firn/remote/internal/wire"
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
		err = fmt.Errorf("%w: %w", shared.ErrUnavailable, wire.ErrClosed)
	}
	return false, err
}

// leaseLeft is how long the lease lives of an entry that has a version: 0 if there is none, or
// another entry. pushed says whether its end will be announced.
func (t *sharedTier) leaseLeft(ctx context.Context, key []byte, version shared.Version) (left time.Duration, pushed bool, err error) {
	name, isLease := t.names.Entry(key), false
	err = t.cluster.Ask(ctx, name, func(w *wire.Wire, _ int) error {
		pushed = w.Announces()
		left, isLease, err = t.leaseOf(ctx, w, name, version)
		return err
	})
	if err != nil || isLease || left == 0 {
		return left, pushed, err
	}
	name = t.names.Beside(key)
	err = t.askName(ctx, name, func(w *wire.Wire) error {
		left, err = t.lifeOf(ctx, w, name)
		return err
	})
	return left, pushed, err
}

// leaseOf is how long an entry lives that has a version, and whether it is a lease.
func (t *sharedTier) leaseOf(ctx context.Context, w *wire.Wire, name string, version shared.Version) (left time.Duration, isLease bool, err error) {
	results := w.DoMulti(ctx, command.GetRange(name, 0, entry.Len), command.New("PTTL", name))
	b, err := t.answer(&results[0])
	if err != nil && !command.IsError(err, "WRONGTYPE") {
		return 0, false, w.ServerError(err)
	}
	h, ok := entry.Parse(b)
	if !ok || h.Version != version {
		return 0, false, nil
	}
	ms, err := results[1].AsInt64()
	return t.life(ms), h.Flags&entry.FlagLease != 0, w.ServerError(err)
}

// lifeOf is how long what lies under a name lives; 0 if there is nothing.
func (t *sharedTier) lifeOf(ctx context.Context, w *wire.Wire, name string) (time.Duration, error) {
	ms, err := w.Do(ctx, command.New("PTTL", name)).AsInt64()
	return t.life(ms), w.ServerError(err)
}

// life is what PTTL answers, and a little more, after which it is over: below 0 there is
// nothing, or something that lives for ever.
func (t *sharedTier) life(ms int64) time.Duration {
	switch {
	case ms == -1:
		return t.o.LeaseTime
	case ms < 0:
		return 0
	}
	return time.Duration(ms+1) * time.Millisecond
}
