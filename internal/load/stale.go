package load

import (
	"context"

	"github.com/firncache/firn/internal/local"
)

// peekForLoad is Store.Peek for a caller who is about to load, and counts the
// answer. A stale value is one only as long as StaleWhileRevalidate says. Where there are
// only fresh values to find, recheck finds them.
func (g *Group) peekForLoad(ctx context.Context, hash uint64, dst, key []byte) ([]byte, local.State) {
	if !g.cfg.heedsFailures() && g.cfg.NegativeTTL == 0 || g.store.SkipsLocal(ctx) {
		return dst, local.Miss
	}
	v, deadline, state := g.store.Peek(ctx, hash, dst, key)
	switch {
	case state == local.Negative && g.cfg.NegativeTTL == 0: // another group's, of the same namespace
		return dst, local.Miss
	case state == local.Negative:
		g.count.negativeHits.Add(1)
	case state == local.Stale && g.within(deadline, millis(g.cfg.StaleWhileRevalidate)):
		g.count.staleServed.Add(1)
	case state == local.Stale:
		return dst, local.Miss
	}
	return v, state
}

// staleFallback is the answer in place of a load that is late or has
// failed: an expired value up to StaleIfError, or one that came meanwhile.
func (g *Group) staleFallback(ctx context.Context, hash uint64, dst, key []byte) ([]byte, Outcome) {
	if g.cfg.StaleIfError == 0 {
		return dst, None
	}
	v, deadline, state := g.store.PeekStale(ctx, hash, dst, key)
	switch {
	case state == local.Fresh:
		return v, Found
	case state == local.Stale && g.within(deadline, millis(g.cfg.StaleIfError)):
		g.count.staleServed.Add(1)
		return v, Fallback
	}
	return dst, None
}

// within reports whether a deadline is less than so many milliseconds ago.
func (g *engine) within(deadline, millis int64) bool { return g.store.Now() < deadline+millis }

// recheck reports the answer that another load has left in the cache, between this
// caller's miss and its join. It looks into RAM, where a load's value is unless it was
// evicted at once, and waits for no disk. A refresh takes no value that needs one for an
// answer.
func (g *Group) recheck(call *loaderCall, f *flight, why purpose) (res result, ok bool) {
	if why == demanded || g.store.SkipsLocal(&call.ctx) {
		return res, false
	}
	switch v, deadline, state := g.store.PeekRAM(f.hash, nil, f.key); {
	case state == local.Fresh && (why != ahead || !g.NeedsRefresh(deadline)):
		return result{value: v, cached: true, from: Found}, true
	case state == local.Negative && g.cfg.NegativeTTL != 0:
		return result{err: local.ErrNotFound, cached: true, from: Negative}, true
	}
	return res, false
}

// NeedsRefresh reports whether a value with this deadline is to be refreshed: less
// of its life is left than a value that was stored with TTL has left after
// RefreshAfter.
func (g *Group) NeedsRefresh(deadline int64) bool {
	moment, ok := g.RefreshAt(deadline)
	return ok && g.store.Passed(moment)
}
