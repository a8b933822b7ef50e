package load

import (
	"context"
	"sync"

	"github.com/firncache/firn/internal/evicted"
	"github.com/firncache/firn/internal/fleet"
	"github.com/firncache/firn/internal/local"
)

// purpose is why a call was made, and so which answers its keys have instead of a load.
type purpose uint8

const (
	missing  purpose = iota // nothing was found: any value is an answer
	ahead                   // the value found needs a refresh: one that needs none is an answer
	demanded                // by Refresh: nothing is
	paused                  // a load failed a moment ago: as missing, and without a value there is no load
)

const (
	// maxWaits is how often a call waits for other processes' loads of its keys, one after
	// the other, before it loads them itself.
	maxWaits = 3
	// maxRequests is how many keys of a call are requested of the shared tier at a time.
	maxRequests = 64
)

// askShared reads the keys of a call from the shared tier, before its loader is called. What
// it has is an answer; a key that another process loads is waited for:
//
//	            .-> answered: the load ends, nothing is loaded
//	ask, for ---+-> leased: to be loaded here
//	a lease     '-> leased by another process: wait, and ask again; in a call of its own
//	                if the rest is to be loaded here
//
// A lease is only requested with a slot: no load waits for one that waits itself. Who
// waits for another process holds none. It reports false if nothing is left to load.
func (g *Group) askShared(call *loaderCall) bool {
	for call.ctx.why() == nil {
		leases := call.purpose != paused && g.limiter.tryHold(&call.slot)
		waiting := g.askAll(call, leases)
		switch {
		case len(call.flights) == 0 && len(waiting) == 0:
			g.limiter.release(&call.slot)
			call.ctx.end(context.Canceled, nil)
			return false
		case call.ctx.why() != nil:
			call.flights = append(call.flights, waiting...)
		case !leases:
			g.limiter.acquire(&call.slot, &call.ctx)
		case len(waiting) == 0:
			return true
		case len(call.flights) > 0:
			go g.run(call.split(waiting))
			return true
		default:
			call.flights = waiting
			g.limiter.release(&call.slot)
			g.awaitAll(call)
		}
	}
	return true
}

// asked says how the shared tier answered for one key.
type asked uint8

const (
	toLoad   asked = iota // nothing is there
	answered              // the load has ended
	outdated              // likewise, and the value needs a refresh
	awaited               // another process loads it
)

// askAll requests the keys of a call. Those that are answered leave it, as do those that
// another process loads, if there is time to wait: these it returns.
func (g *Group) askAll(call *loaderCall, leases bool) (waiting []*flight) {
	came, dropped := make([]asked, len(call.flights)), make([]evicted.List, len(call.flights))
	each(len(call.flights), func(i int) { came[i] = g.askOne(call, call.flights[i], leases, &dropped[i]) })
	rest := call.flights[:0]
	var due [][]byte
	for i, f := range call.flights {
		call.evicted.Join(&dropped[i])
		switch came[i] {
		case toLoad:
			rest = append(rest, f)
		case awaited:
			waiting = append(waiting, f)
		case outdated:
			due = append(due, f.key)
		}
	}
	if call.flights = rest; due != nil {
		g.refreshInBackground(call.ctx.values, due, call.loader)
	}
	return waiting
}

// askOne requests one key. What is found is kept as a copy: a stale value may be the answer
// later, if the load fails or is late. What leaves the cache for it is added to ev.
func (g *Group) askOne(call *loaderCall, f *flight, leases bool, ev *evicted.List) asked {
	how := fleet.AskValue
	switch {
	case leases && call.purpose == missing:
		how = fleet.AskLease
	case leases:
		how = fleet.AskAnew
	}
	a := g.store.Fleet.Ask(&call.ctx, &f.watch, f.key, how, g.cfg.NegativeTTL != 0, ev)
	res, came := g.sharedAnswer(call, &a)
	switch {
	case came == toLoad && call.purpose == paused:
		g.count.errorHits.Add(1)
		res, came = result{err: call.remembered, cached: true, from: Negative}, answered
	case came == toLoad && a.Err != nil && call.purpose == missing:
		res, came = result{err: a.Err, cached: true}, answered
	case came == toLoad && a.Leased && call.purpose == ahead && g.leaveToOther(f):
		return answered
	case came == toLoad && a.Leased && call.purpose != demanded && !call.impatient:
		came = awaited
	}
	if came == toLoad || came == awaited {
		g.holdLease(f, a.Lease)
		return came
	}
	g.end(f, res)
	g.store.Fleet.Release(f.key, a.Lease)
	return came
}

// sharedAnswer is the answer that the shared tier has, if it is one for this call.
func (g *Group) sharedAnswer(call *loaderCall, a *fleet.Asked) (result, asked) {
	found := result{value: a.Value, cached: true, from: InShared}
	switch {
	case call.purpose == demanded:
	case a.State == local.Negative:
		g.count.negativeHits.Add(1)
		return result{err: local.ErrNotFound, cached: true, from: Negative}, answered
	case a.State == local.Fresh && !g.NeedsRefresh(a.Deadline):
		return found, answered
	case call.purpose == ahead: // another such value is no answer
	case a.State == local.Fresh:
		return found, outdated
	case a.State == local.Stale && g.within(a.Deadline, millis(g.cfg.StaleWhileRevalidate)):
		g.count.staleServed.Add(1)
		found.from = Stale
		return found, outdated
	}
	return result{}, toLoad
}

// awaitAll waits until no other process loads a key of a call any more, but not for ever.
func (g *Group) awaitAll(call *loaderCall) {
	enough := make([]bool, len(call.flights))
	each(len(call.flights), func(i int) {
		f := call.flights[i]
		enough[i] = g.store.Fleet.Await(&call.ctx, f.key, f.leaseOf()) != nil
	})
	call.waits++
	call.impatient = call.waits >= maxWaits
	for i := range enough {
		call.impatient = call.impatient || enough[i]
	}
}

// each calls do for the numbers below n, and returns when all calls have: the first ones
// in goroutines of their own if there are several.
func each(n int, do func(i int)) {
	if n == 1 {
		do(0)
		return
	}
	var wg sync.WaitGroup
	slots := make(chan struct{}, maxRequests)
	for i := range n {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			do(i)
		})
	}
	wg.Wait()
}
