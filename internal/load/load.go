package load

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"
	"weak"

	"github.com/firncache/firn/internal/evicted"
	"github.com/firncache/firn/internal/local"
)

// Load is the slow path of Cache.GetOrLoad: nothing was found. A load that gives returns slices
// that nothing else refers to: where dst has no room for one, a caller that is alone gets it
// instead of a copy.
func (g *Group) Load(ctx context.Context, dst, key []byte, load Func, gives bool) ([]byte, Outcome, error) {
	if err := ctx.Err(); err != nil {
		return dst, None, err
	}
	before, hash := g.begun.Load(), g.store.Hash(key)
	for {
		v, came, f, err := g.loadOnce(ctx, hash, dst, key, loader{one: load, gives: gives && !g.store.HasShared()})
		if !g.outdated(f, before, err) {
			return v, f.since(before, came), err
		}
		key = f.key // the loader may have used the caller's buffer
	}
}

// loadOnce looks for a value that was stored meanwhile, f is nil then, and
// otherwise waits for a load of the key.
func (g *Group) loadOnce(ctx context.Context, hash uint64, dst, key []byte, load loader) (v []byte, came Outcome, f *flight, err error) {
	switch v, state := g.peekForLoad(ctx, hash, dst, key); state {
	case local.Fresh:
		return v, Found, nil, nil
	case local.Stale:
		g.refreshInBackground(ctx, [][]byte{key}, load)
		return v, Stale, nil, nil
	case local.Negative:
		return dst, Negative, nil, local.ErrNotFound
	}
	var call *loaderCall
	v, came, err = g.pausedAnswer(ctx, hash, dst, key)
	switch {
	case came == None:
		f, err = g.joinOrBegin(ctx, hash, key, &call)
	case err != nil && g.store.HasShared():
		f, err = g.joinPaused(ctx, hash, key, load, err)
	default:
		return v, came, nil, err
	}
	if err != nil {
		return dst, None, nil, err
	}
	if call != nil {
		g.start(call, load, missing)
	}
	soft, stop := g.softTimeout()
	defer stop()
	v, came, err = g.wait(ctx, dst, f, call != nil, soft)
	return v, came, f, err
}

// outdated reports whether a result is none for a caller who came when before loads had
// begun: a tag of it was invalidated, or expired, or may have been, and its load began earlier, so
// that this may have been before the caller came. Any load of the key that the caller finds afterwards began later. What is an answer
// though it is stale comes from no load.
func (g *Group) outdated(f *flight, before uint64, err error) bool {
	switch {
	case f == nil || f.number > before || !f.ended():
		return false
	case err == nil:
		return f.result.err == nil && (f.call.directives.isAlone(f) || g.store.IsOutdated(f.key, f.result.value))
	}
	return errors.Is(err, local.ErrNotFound) && (f.call.directives.isAlone(f) || g.store.IsNegativeObsolete(f.call.directives.negative(f)))
}

// start begins a call of a loader, and returns for how many keys. A load of one of its
// keys may have ended after the caller had looked into the cache and before it joined:
// recheck sees it, and the key is left out.
func (g *Group) start(call *loaderCall, load loader, why purpose) (n int) {
	absent := call.flights[:0]
	for _, f := range call.flights {
		g.store.Watch(&f.watch, f.hash, f.key) // and then look: a write is either seen or noticed
		if res, ok := g.recheck(call, f, why); ok {
			g.end(f, res)
		} else {
			absent = append(absent, f)
		}
	}
	if call.flights = absent; len(absent) > 0 {
		call.loader, call.purpose = load, why
		go g.run(call)
	} else {
		g.limiter.release(&call.slot)
	}
	return len(absent)
}

// run calls the loader when it is its turn, stores the result unless
// something newer came, and wakes the callers. Until it has, the hard timeout and
// Close wake them at once.
func (g *Group) run(call *loaderCall) {
	if g.store.HasShared() && !g.askShared(call) {
		call.evicted.Notify()
		return
	}
	g.limiter.acquire(&call.slot, &call.ctx)
	call.called.Store(true)
	began := time.Now()
	g.startTimeout(call, began)
	var values [][]byte
	err := call.ctx.why()
	returned := false
	defer func() {
		var p *panicked
		if !returned { // a panic, or runtime.Goexit
			p = &panicked{recover(), debug.Stack()}
		}
		if why := call.ctx.why(); err != nil && why != nil {
			err = why // the loader's context has ended
		}
		g.limiter.release(&call.slot)
		unstored, awaited := g.complete(call, values, err, p)
		call.ctx.end(context.Canceled, nil)
		g.releaseLeases(call)
		call.evicted.Notify() // may call the user, as the next two may: after the callers have their value
		g.log.noteUnstored(unstored)
		if p != nil && !awaited {
			g.log.panicked(p, g.store.Now())
		}
	}()
	if err == nil {
		g.count.loads.Add(uint64(len(call.flights)))
		values, err = g.timed(call, began)
	}
	returned = true
}

// timed calls the loader, in a span if there is to be one, and counts how long it takes, also
// if it panics.
func (g *Group) timed(call *loaderCall, began time.Time) (values [][]byte, err error) {
	defer func() { g.count.durations.Add(time.Since(began)) }()
	if g.span == nil {
		return call.load(&call.ctx)
	}
	ctx, end := g.span(&call.ctx, len(call.flights), call.flights[0].inBackground())
	failure := errPanicked
	defer func() { end(failure) }()
	values, err = call.load(ctx)
	if failure = err; errors.Is(err, ErrNotModified) {
		failure = nil // it is an answer
	}
	return values, err
}

// errPanicked ends the span of a loader that did not return.
var errPanicked = errors.New("firn: the loader panicked")

// complete ends the loads of a call: each value is stored first, so that no load of
// its key can begin before. It returns why some value could not be stored, and whether anybody
// waited.
func (g *Group) complete(call *loaderCall, values [][]byte, err error, p *panicked) (unstored error, awaited bool) {
	results := call.results(values, err, p)
	g.loaderReturned(call, results)
	if len(results) > 1 && g.store.HasShared() {
		return g.completeMany(call, results)
	}
	for i, f := range call.flights {
		res := &results[i]
		awaited = g.completeOne(f, res, &call.evicted) || awaited
		if res.failedToStore() {
			unstored = res.unstored
		}
	}
	return unstored, awaited
}

// completeMany is complete of many loads, with a shared tier: there it stores many at once.
func (g *Group) completeMany(call *loaderCall, results []result) (unstored error, awaited bool) {
	var mu sync.Mutex
	each(len(results), func(i int) {
		var own evicted.List
		waited := g.completeOne(call.flights[i], &results[i], &own)
		mu.Lock()
		defer mu.Unlock()
		call.evicted.Join(&own)
		awaited = awaited || waited
		if results[i].failedToStore() {
			unstored = results[i].unstored
		}
	})
	return unstored, awaited
}

// completeOne ends one load, as complete does.
func (g *Group) completeOne(f *flight, res *result, ev *evicted.List) (awaited bool) {
	if why := f.call.ctx.why(); why == g.timeout { // of this moment: the loads are about to be ended
		res.unstored = why
		return g.end(f, *res)
	}
	if res.unstored = g.storeResult(f, res, ev); res.failedToStore() {
		g.count.unstored.Add(1)
	}
	return g.end(f, *res)
}

// results are the results of a loader, load by load.
func (call *loaderCall) results(values [][]byte, err error, p *panicked) []result {
	if p == nil && errors.Is(err, ErrNotModified) {
		values, err = call.notModified()
	}
	if err == nil && p == nil && len(values) != len(call.flights) {
		err = fmt.Errorf("firn: a loader returned %d values for %d keys: want as many", len(values), len(call.flights))
	}
	results := call.oneResult[:]
	if len(call.flights) > 1 {
		results = make([]result, len(call.flights))
	}
	for i := range results {
		res := &results[i]
		res.err, res.panicked = err, p
		switch {
		case err != nil || p != nil:
		case values[i] == nil:
			res.err = local.ErrNotFound
		default:
			res.value = values[i]
		}
	}
	return results
}

// wait is how a caller waits: until the load has ended, or its own context, or
// until the soft timeout if the cache holds something to answer with. A value is
// appended to dst. It began the load, or has joined it.
func (g *Group) wait(ctx context.Context, dst []byte, f *flight, began bool, soft <-chan struct{}) (v []byte, came Outcome, err error) {
	for {
		select {
		case <-f.done:
			return g.answer(ctx, dst, f, began)
		case <-ctx.Done():
			select {
			case <-f.done: // by then there was an answer
				return g.answer(ctx, dst, f, began)
			default:
			}
			g.leave(ctx, f)
			return dst, None, ctx.Err()
		case <-soft:
			soft = nil
			if v, came := g.staleFallback(ctx, f.hash, dst, f.key); came != None {
				g.count.softTimeouts.Add(1)
				f.leaveRunning(ctx)
				return v, came, nil
			}
		}
	}
}

// answer is the result of a load that has ended, for a caller.
func (g *Group) answer(ctx context.Context, dst []byte, f *flight, began bool) (v []byte, came Outcome, err error) {
	res := &f.result
	if res.panicked != nil {
		panic(res.panicked)
	}
	if res.err == nil {
		if f.sole && f.call.loader.gives && !res.cached && len(dst) == 0 && cap(dst) < len(res.value) {
			return res.value, res.outcome(began), nil
		}
		return append(dst, res.value...), res.outcome(began), nil
	}
	if isFailure(res.err) && !res.closed {
		if v, came := g.staleFallback(ctx, f.hash, dst, f.key); came != None {
			g.count.staleOnError.Add(1)
			return v, came, nil
		}
	}
	return dst, res.outcome(began), res.err
}

// softTimeout is closed when SoftTimeout is over; without one it is nil. The
// caller calls stop when it does not wait any more.
func (g *Group) softTimeout() (over <-chan struct{}, stop func() bool) {
	if g.cfg.SoftTimeout == 0 {
		return nil, func() bool { return false }
	}
	ch := make(chan struct{})
	return ch, time.AfterFunc(g.cfg.SoftTimeout, func() { close(ch) }).Stop
}

// startTimeout ends the loads of a call, and its context, when HardTimeout is over, unless they
// have ended.
func (g *Group) startTimeout(call *loaderCall, began time.Time) {
	hard := g.cfg.Hard()
	if hard == local.Forever {
		return
	}
	deadline := began.Add(hard)
	call.ctx.limit(deadline)
	if !g.alarm.isSet.Load() { // endLate looks at the deadlines after that is unset
		g.setAlarm(deadline)
	}
}

// setAlarm has endLate called at a moment, or before. It does not keep the Group from being
// collected.
func (g *Group) setAlarm(at time.Time) {
	of := weak.Make(g)
	g.alarm.set(at, func() {
		if g := of.Value(); g != nil {
			g.endLate()
		}
	})
}

// endLate ends the calls whose time is over, and sets the alarm for the next.
func (g *Group) endLate() {
	g.alarm.rang()
	now, next, late := time.Now(), time.Time{}, map[*loaderCall]struct{}{}
	for i := range g.shards {
		s := &g.shards[i]
		s.mu.Lock()
		for f := range s.underWay {
			switch at := f.call.ctx.limited(); {
			case at.IsZero() || f.call.of.alarm != g.alarm: // its loader is not called yet, or has another time
			case !at.After(now):
				late[f.call] = struct{}{}
			case next.IsZero() || at.Before(next):
				next = at
			}
		}
		s.mu.Unlock()
	}
	for call := range late {
		call.ctx.end(context.DeadlineExceeded, call.of.timeout)
		go g.endEarly(call, call.of.timeout) // it may wait for the shared tier
	}
	if !next.IsZero() {
		g.setAlarm(next)
	}
}
