package tiered

import (
	"context"

	"github.com/firncache/firn/internal/flight"
	"github.com/firncache/firn/internal/registry"
	"github.com/firncache/firn/internal/shared"
)

// GetToRead is Get for a read, of which known is what the caller knows of the number. It heeds
// what the call's options say of the local copies, and of a tier that is unavailable.
func (n *Numbers) GetToRead(ctx context.Context, id registry.ID, known *shared.Number) (*shared.Number, error) {
	call := callOf(ctx)
	holds := n.Holds(known)
	if !holds {
		if c := n.Find(id); c != nil { // somebody has asked since
			known, holds = c, n.Holds(c)
		}
	}
	switch {
	case holds && !call.SkipLocal:
		return known, nil
	case call.SkipShared:
		return nil, ErrNotFound
	}
	policy := n.tier.Policy()
	degraded := policy.Degraded
	if call.HasDegraded {
		degraded = call.Degraded
	}
	stale := degraded == shared.DegradedStale && known != nil && !known.Voided()
	ask := n.Ask
	if stale && policy.SoftTimeout > 0 {
		ask = n.askSoon
	}
	c, err := ask(ctx, id)
	switch {
	case err == nil:
		return c, nil
	case err == ErrClosed:
		return nil, err
	case stale:
		return known, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case degraded == shared.DegradedError:
		return nil, err
	}
	return nil, ErrNotFound
}

// askSoon is Ask that does not wait for longer than Policy.SoftTimeout; but the answer is kept
// when it comes.
func (n *Numbers) askSoon(ctx context.Context, id registry.ID) (*shared.Number, error) {
	ctx, cancel := context.WithTimeout(ctx, n.tier.Policy().SoftTimeout)
	defer cancel()
	_, _ = n.askShared(ctx, id, flight.Any)
	if c := n.Find(id); n.Holds(c) {
		return c, nil
	}
	if n.closed() {
		return nil, ErrClosed
	}
	return nil, shared.ErrUnavailable
}
