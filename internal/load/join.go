package load

import (
	"context"
	"errors"
	"slices"

	"github.com/firncache/firn/internal/local"
	"github.com/firncache/firn/internal/offheap"
)

// errOwnKey is the error for a loader that would wait for itself.
var errOwnKey = errors.New("firn: a loader asks for a key that it is loading")

// errEachOther is the error for a loader that would wait for a load that waits for the loader itself.
var errEachOther = errors.New("firn: a loader asks for a key whose load waits for a key that this loader is loading")

// joinOrBegin enters a caller into the load of key. If there is none, it adds one
// to *call, a new call if that is nil, and leaves it to the caller to start it.
func (g *Group) joinOrBegin(ctx context.Context, hash uint64, key []byte, call **loaderCall) (*flight, error) {
	f, err := g.enter(ctx, hash, key, call)
	if err == nil {
		err = g.waitFor(ctx, f)
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

// enter is joinOrBegin without a look at what the load itself waits for.
func (g *Group) enter(ctx context.Context, hash uint64, key []byte, call **loaderCall) (*flight, error) {
	asker := directivesOf(ctx) // not under the lock: a context may be the user's own
	s := g.shardOf(hash)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, local.ErrClosed
	}
	f := s.find(key)
	if f == nil {
		f = g.begin(ctx, asker.inside(g.engine), hash, key, call)
	} else if asker == &f.call.directives {
		return nil, errOwnKey
	} else if asker.inside(g.engine) {
		f.call.slot.bypass()
	}
	f.callers++
	return f, nil
}

// waitFor notes that the loader whose context ctx is waits for a load, if ctx is a loader's. It fails if
// the load waits for that loader, directly or over others. Of two loaders that come to wait for each other
// at once one finds the other at least: each notes its wait before it looks.
func (g *Group) waitFor(ctx context.Context, f *flight) error {
	d := directivesOf(ctx)
	if d == nil {
		return nil
	}
	d.noteWait(f)
	if f.waitsFor(d.call, map[*loaderCall]bool{}) {
		g.leave(ctx, f)
		return errEachOther
	}
	return nil
}

// noteWait notes that the loader waits for a load. It forgets those that have ended when there are
// twice as many as were left the last time: a bulk load's loader may wait for very many at once.
func (d *directives) noteWait(f *flight) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.waits) >= 2*d.waited {
		d.waits = slices.DeleteFunc(d.waits, (*flight).ended)
		d.waited = max(len(d.waits), fewWaits)
	}
	d.waits = append(d.waits, f)
}

// fewWaits are so few that it costs nothing to look through twice as many.
const fewWaits = 4

// waitsNoMore takes back one waitFor.
func waitsNoMore(ctx context.Context, f *flight) {
	d := directivesOf(ctx)
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if i := slices.Index(d.waits, f); i >= 0 {
		d.waits = slices.Delete(d.waits, i, i+1)
	}
}

// joinBackground adds a load of key that goes on without callers to *call, like
// joinOrBegin. It adds none if there is one, or if it would have to wait to find
// out: it is called by every reader of a value that is being refreshed.
func (g *Group) joinBackground(ctx context.Context, asker *directives, key []byte, call **loaderCall) {
	hash := g.store.Hash(key)
	s := g.shardOf(hash)
	if !s.mu.TryLock() {
		return
	}
	defer s.mu.Unlock()
	if !s.closed && s.find(key) == nil && !g.pausesRefresh(s, hash, key) {
		g.begin(ctx, asker.inside(g.engine), hash, key, call).background = true
	}
}

// find is the load of key that a caller can join, if there is one. The caller
// holds mu. It looks at the watch itself, for a writer who ended that may not
// have come to forget the load yet.
func (s *shard) find(key []byte) *flight {
	f := s.joinable[string(key)]
	if f != nil && f.watch.Voided() {
		f.forget()
		return nil
	}
	return f
}

// begin adds a load of key to *call, a new call as newCall makes it. The caller holds mu of the
// key's shard.
func (g *Group) begin(ctx context.Context, inside bool, hash uint64, key []byte, call **loaderCall) *flight {
	if *call == nil {
		*call = g.newCall(ctx, inside)
	}
	s := g.shardOf(hash)
	if s.joinable == nil {
		s.joinable, s.underWay = make(map[string]*flight), make(map[*flight]struct{})
	}
	f, room := &(*call).flight, 2*len(key) // for the loader's copy, too
	if len((*call).flights) > 0 {
		f, room = new(flight), len(key)
	}
	f.shard, f.hash, f.key, f.call = s, hash, append(make([]byte, 0, room), key...), *call
	f.number, f.done = g.begun.Add(1), make(chan struct{})
	f.watch.Written = f
	f.call.flights = append(f.call.flights, f)
	f.call.wanted.Add(1)
	s.joinable[offheap.String(f.key)] = f // which does not change
	s.underWay[f] = struct{}{}
	s.active.Add(1)
	return f
}

// newCall makes a call that keeps the values of ctx, but not its end. Inside says whether a
// loader of this cache begins it.
func (g *Group) newCall(ctx context.Context, inside bool) *loaderCall {
	call := &loaderCall{of: g, directives: directives{of: g}, slot: g.limiter.newSlot(inside)}
	call.directives.call = call
	call.ctx.values, call.ctx.directives = ctx, &call.directives
	call.flights = call.oneFlight[:0]
	return call
}

// leave is called by a caller that does not wait for the end.
func (g *engine) leave(ctx context.Context, f *flight) {
	waitsNoMore(ctx, f)
	f.shard.mu.Lock()
	defer f.shard.mu.Unlock()
	if f.callers--; f.callers == 0 && !f.goesOn(f.call.of.cfg.CancelUnwanted) {
		f.forget()
	}
}

// leaveRunning is leave for a caller that wants the load to go on.
func (f *flight) leaveRunning(ctx context.Context) {
	waitsNoMore(ctx, f)
	f.shard.mu.Lock()
	defer f.shard.mu.Unlock()
	f.callers--
	f.background = true
	if f.watch.Voided() {
		f.forget()
	}
}

// KeyWritten forgets a load whose key was written.
func (f *flight) KeyWritten() {
	f.shard.mu.Lock()
	defer f.shard.mu.Unlock()
	f.forget()
}

// forget hides a load from later callers, keeps its value from being stored, and
// abandons it if it was the last. The caller holds mu of its shard.
func (f *flight) forget() {
	f.watch.Void()
	if s := f.shard; s.joinable[string(f.key)] == f {
		delete(s.joinable, string(f.key))
	}
	if f.callers == 0 {
		f.abandon()
	}
}

// loaderReturned notes a loader's result, before it is stored. There is
// nothing to cancel any more.
func (g *engine) loaderReturned(call *loaderCall, results []result) {
	call.returned.Store(true)
	for i, f := range call.flights {
		f.shard.mu.Lock()
		if f.underWay() {
			f.result, f.returned = results[i], true
		}
		f.shard.mu.Unlock()
	}
}

// end hands the result of a load to its callers. A load that has ended stays as
// it is.
//
// It reports whether anybody waited for it.
func (g *engine) end(f *flight, res result) (awaited bool) {
	f.shard.mu.Lock()
	awaited = f.underWay() && f.callers > 0
	if awaited { // else its callers, if there were any, may be reading it
		f.sole = f.callers == 1
	}
	g.endLocked(f, res)
	f.shard.mu.Unlock()
	g.store.Unwatch(&f.watch) // only when no caller can join: a write would not be noticed
	return awaited
}

func (g *engine) endLocked(f *flight, res result) {
	if !f.underWay() {
		return
	}
	if !f.abandoned {
		g.count.ended(res)
	}
	g.noteEnd(f, res)
	f.forget()
	f.abandon()
	delete(f.shard.underWay, f)
	f.shard.active.Add(-1)
	f.result = res
	close(f.done)
}

// endEarly ends the loads of a call without waiting for the loader, or for what it
// returned to be stored: its time is over, or its last caller has left. A value that
// came in time is an answer, if not a stored one. Other processes may load from then on.
func (g *engine) endEarly(call *loaderCall, why error) {
	for _, f := range call.flights {
		f.shard.mu.Lock()
		res := result{err: why}
		if f.returned && why == call.of.timeout {
			res = f.result
			res.unstored = why
		}
		g.endLocked(f, res)
		f.shard.mu.Unlock()
	}
	g.releaseLeases(call)
}
