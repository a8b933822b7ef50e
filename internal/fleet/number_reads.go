package fleet

import (
	"context"

	"github.com/firncache/firn/internal/flight"
	"github.com/firncache/firn/internal/local"
	"github.com/firncache/firn/internal/registry"
	"github.com/firncache/firn/internal/shared"
)

// GetToRead is Get for a read; known is the copy that the caller has. It follows
// the call's options for the local copies, and of a tier that is unavailable.
func (n *Numbers) GetToRead(ctx context.Context, id registry.ID, known *shared.Number) (*shared.Number, error) {
	call := callOf(ctx)
	holds := n.Holds(known)
	if !holds {
		if c := n.Find(id); c != nil { // it was fetched since
			known, holds = c, n.Holds(c)
		}
	}
	switch {
	case holds && !call.SkipLocal:
		return known, nil
	case call.SkipShared:
		return nil, local.ErrNotFound
	}
	policy := n.tier.Policy()
	degraded := policy.Degraded
	if call.HasDegraded {
		degraded = call.Degraded
	}
	stale := degraded == shared.DegradedStale && known != nil && !known.Voided()
	ask := n.Ask
	if stale && policy.SoftTimeout > 0 {
		ask = n.askWithSoftTimeout
	}
	c, err := ask(ctx, id)
	switch {
	case err == nil:
		return c, nil
	case err == local.ErrClosed:
		return nil, err
	case stale:
		return known, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case degraded == shared.DegradedError:
		return nil, err
	}
	return nil, local.ErrNotFound
}

// askWithSoftTimeout is Ask that does not wait for longer than Policy.SoftTimeout; but the answer is kept
// when it comes.
func (n *Numbers) askWithSoftTimeout(ctx context.Context, id registry.ID) (*shared.Number, error) {
	ctx, cancel := context.WithTimeout(ctx, n.tier.Policy().SoftTimeout)
	defer cancel()
	if c, err := n.AskShared(ctx, id, flight.Any); err == nil && !c.Voided() {
		return c, nil
	}
	if c := n.Find(id); n.Holds(c) {
		return c, nil
	}
	if n.closed() {
		return nil, local.ErrClosed
	}
	return nil, shared.ErrUnavailable
}

// Moment is a moment in the life of the numbers, for NumberAt.
type Moment struct{ moment, changes uint64 }

// Now is the present moment.
func (n *Numbers) Now() Moment { return Moment{n.moment.Load(), n.trust.Changes()} }

// NumberAt is a number that an id had at a moment, or before it: what is made after it and
// bears that number is worthless if the id was renewed since. It is 0 if that is not known.
//
// A copy from before the moment is one. Otherwise the number is fetched twice: when the second
// answer is here, so is the push of a change that the first one has shown. If there was no push since the moment, nor any that could have been
// lost, the number was the same at the moment.
func (n *Numbers) NumberAt(ctx context.Context, m Moment, id registry.ID) uint64 {
	c := n.Find(id)
	if !n.Holds(c) {
		var err error
		if c, err = n.Ask(ctx, id); err != nil {
			return 0
		}
	} else if c.Kept <= m.moment {
		return c.Value
	}
	again, err := n.Ask(ctx, id)
	if err != nil || !n.Holds(again) || again.Value != c.Value || n.changedSince(m, id) {
		return 0
	}
	return c.Value
}

// changedSince reports whether an id may have been renewed since a moment, or another of its
// set.
func (n *Numbers) changedSince(m Moment, id registry.ID) bool {
	return n.set(id).changed.Load() > m.moment || n.trust.Changes() != m.changes
}

// Latest is c, with which a write was made, if that was the number of its id at a moment
// after the write began; otherwise the number by now. Without a cluster, a change from before the
// write was pushed before the write's answer; with one, the number is fetched.
func (n *Numbers) Latest(ctx context.Context, c *shared.Number) (*shared.Number, error) {
	if n.Holds(c) && n.trust.Slots() == 1 {
		return c, nil
	}
	latest, err := n.AskShared(ctx, registry.ID(c.ID), flight.After)
	if err == nil && latest.Value == c.Value {
		return c, nil
	}
	return latest, err
}
