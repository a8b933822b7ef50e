package load

import (
	"errors"
	"time"

	"github.com/firncache/firn/internal/evicted"
	"github.com/firncache/firn/internal/local"
)

// storeResult leaves in the cache the result of a load, and nothing older, and
// returns why that could not be done. If the key was written since the load began,
// or the load was abandoned, it does nothing. A value that is obsolete already is not
// stored. It may wait, for room or for the SSD, and is called with no lock held. Whatever
// leaves the cache for it is added to ev, so that OnEvict is not called before the callers have
// their value.
func (g *Group) storeResult(f *flight, res *result, ev *evicted.List) error {
	if res.panicked != nil || isFailure(res.err) {
		return nil
	}
	ttl, store := f.call.directives.ttl(f, g.cfg.TTL), g.storeNegative
	switch {
	case ttl <= 0 || g.cfg.Off,
		f.call.directives.isAlone(f) && f.leaseOf().IsKnown(),
		res.err == nil && g.store.IsObsolete(f.key, res.value), // it was invalidated meanwhile
		res.err != nil && (g.cfg.NegativeTTL <= 0 || g.store.IsNegativeObsolete(f.call.directives.negative(f))):
		return g.deleteIf(f, ev)
	case res.err == nil:
		store = func(f *flight, ev *evicted.List) error { return g.storeValue(f, res.value, ttl, ev) }
	}
	err := store(f, ev)
	if errors.Is(err, local.ErrTooLarge) || errors.Is(err, local.ErrNoRoom) {
		err = errors.Join(err, g.deleteIf(f, ev))
	}
	return err
}

// storeValue stores a value for ttl, less jitter.
func (g *Group) storeValue(f *flight, value []byte, ttl time.Duration, ev *evicted.List) error {
	deadline, err := g.Deadline(g.store.Now(), g.Jittered(ttl))
	if err != nil {
		return err
	}
	return g.setIf(f, value, deadline, ev)
}

// storeNegative remembers for NegativeTTL that a key has no value. It is a record
// like others, whose value is the tags, and which the tiers hide: its deadline is negative. So
// it shares the budget, is evicted when it is not read, and ends with any
// write of its key. It does not go to the SSD.
func (g *Group) storeNegative(f *flight, ev *evicted.List) error {
	return g.setIf(f, f.call.directives.negative(f), -(g.store.Now() + millis(g.cfg.NegativeTTL)), ev)
}

// setIf stores a value, in the shared tier too, where it replaces what the load has leased
// alone.
func (g *Group) setIf(f *flight, value []byte, deadline int64, ev *evicted.List) error {
	if !g.store.HasShared() {
		return g.store.SetIf(&f.watch, f.key, value, deadline, ev)
	}
	spent, err := g.store.Fleet.SetLoaded(&f.call.ctx, &f.watch, f.leaseOf(), f.key, value, deadline, ev)
	if spent {
		f.shard.mu.Lock()
		defer f.shard.mu.Unlock()
		f.takeLease()
	}
	return err
}

// deleteIf takes out what the cache has of a key, in the shared tier too.
func (g *Group) deleteIf(f *flight, ev *evicted.List) error {
	if !g.store.HasShared() {
		return g.store.DeleteIf(&f.watch, f.key, ev)
	}
	return g.store.Fleet.DeleteLoaded(&f.call.ctx, &f.watch, f.leaseOf(), f.key, ev)
}
