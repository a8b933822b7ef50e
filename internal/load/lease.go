package load

import (
	"github.com/firncache/firn/internal/fleet"
)

// keyLease is the lease of a key.
type keyLease struct {
	key   []byte
	lease fleet.Lease
}

// holdLease keeps a lease until the load stores its value or releases it; a load that has
// ended does so at once.
func (g *engine) holdLease(f *flight, l fleet.Lease) {
	f.shard.mu.Lock()
	wanted := f.underWay()
	if wanted {
		f.lease = &l
	}
	f.shard.mu.Unlock()
	if !wanted {
		g.store.Fleet.Release(f.key, l)
	}
}

// takeLease takes a load's lease, if it has one: the caller releases it, and holds mu of the
// load's shard.
func (f *flight) takeLease() (l fleet.Lease) {
	if f.lease != nil {
		l, f.lease = *f.lease, nil
	}
	return l
}

// leaseOf is a load's lease, if it has one.
func (f *flight) leaseOf() (l fleet.Lease) {
	f.shard.mu.Lock()
	defer f.shard.mu.Unlock()
	if f.lease != nil {
		l = *f.lease
	}
	return l
}

// releaseLeases gives up what the loads of a call have leased and not used.
func (g *engine) releaseLeases(call *loaderCall) {
	if !g.store.HasShared() {
		return
	}
	for _, f := range call.flights {
		f.shard.mu.Lock()
		l := f.takeLease()
		f.shard.mu.Unlock()
		g.store.Fleet.Release(f.key, l)
	}
}

// leaveToOther ends a refresh that another process does, if it has no callers, and lets
// none begin here for RetryAfter.
func (g *Group) leaveToOther(f *flight) bool {
	f.shard.mu.Lock()
	left := f.callers == 0
	if left {
		g.note(f, nil)
		g.endLocked(f, result{cached: true})
	}
	f.shard.mu.Unlock()
	if left {
		g.store.Unwatch(&f.watch)
	}
	return left
}

// split moves loads to a call of their own, which waits for other processes.
func (call *loaderCall) split(flights []*flight) *loaderCall {
	g := call.of
	rest := g.newCall(call.ctx.values, call.slot.free)
	rest.loader, rest.purpose, rest.waits = call.loader, call.purpose, call.waits
	rest.flights = flights
	call.wanted.Add(1) // neither is given up before all have moved
	rest.wanted.Add(int64(len(flights)) + 1)
	for _, f := range flights {
		f.shard.mu.Lock()
		f.call = rest
		given := f.abandoned
		f.shard.mu.Unlock()
		if given {
			rest.unwant()
		} else {
			call.unwant()
		}
	}
	call.unwant()
	rest.unwant()
	return rest
}
