package load

import (
	"context"
	"errors"

	"github.com/firncache/firn/internal/tiered"
)

// errOwnKey is the error for a loader that would wait for itself.
var errOwnKey = errors.New("firn: a loader asks for a key that it is loading")

// joinOrBegin enters a caller into the load of key. If there is none, it adds one
// to *call, a new call if that is nil, and leaves it to the caller to start it.
func (g *Group) joinOrBegin(ctx context.Context, key []byte, call **loaderCall) (*flight, error) {
	asker := directivesOf(ctx) // not under the lock: a context may be the user's own
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil, tiered.ErrClosed
	}
	f := g.find(key)
	if f == nil {
		f = g.begin(ctx, asker, key, call)
	} else if f.call.directives.around(asker) {
		return nil, errOwnKey
	} else if asker.inside(g) {
		f.call.slot.bypass()
	}
	f.callers++
	return f, nil
}

// joinBackground adds a load of key that goes on without callers to *call, like
// joinOrBegin. It adds none if there is one, or if it would have to wait to find
// out: it is called by every reader of a value that is being refreshed.
func (g *Group) joinBackground(ctx context.Context, key []byte, call **loaderCall) {
	asker := directivesOf(ctx)
	if !g.mu.TryLock() {
		return
	}
	defer g.mu.Unlock()
	if !g.closed && g.find(key) == nil {
		g.begin(ctx, asker, key, call).background = true
	}
}

// find is the load of key that a caller can join, if there is one. The caller
// holds mu. It looks at the watch itself, for a writer who ended that may not
// have come to forget the load yet.
func (g *Group) find(key []byte) *flight {
	f := g.joinable[string(key)]
	if f != nil && f.watch.Voided() {
		g.forget(f)
		return nil
	}
	return f
}

// begin adds a load of key to *call. The caller holds mu.
func (g *Group) begin(ctx context.Context, asker *directives, key []byte, call **loaderCall) *flight {
	if *call == nil {
		*call = g.newCall(ctx, asker)
	}
	if g.joinable == nil {
		g.joinable, g.underWay = make(map[string]*flight), make(map[*flight]struct{})
	}
	g.begun++
	f := &flight{key: append([]byte{}, key...), call: *call, number: g.begun, done: make(chan struct{})}
	f.watch.Written = func() { g.keyWritten(f) }
	f.call.flights = append(f.call.flights, f)
	f.call.wanted++
	g.joinable[string(f.key)] = f
	g.underWay[f] = struct{}{}
	g.active.Add(1)
	return f
}

// newCall makes a call that keeps the values of ctx, but not its end. Asker is the
// loader that asks for it, nil for anybody else.
func (g *Group) newCall(ctx context.Context, asker *directives) *loaderCall {
	call := &loaderCall{directives: directives{of: g, within: asker}, slot: newSlot(asker.inside(g))}
	ctx = context.WithValue(context.WithoutCancel(ctx), directivesKey{}, &call.directives)
	call.ctx, call.cancel = context.WithCancelCause(ctx)
	return call
}

// leave is called by a caller that does not wait for the end.
func (g *Group) leave(f *flight) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if f.callers--; f.callers == 0 && (!f.background || f.watch.Voided()) {
		g.forget(f)
	}
}

// leaveRunning is leave for a caller that wants the load to go on.
func (g *Group) leaveRunning(f *flight) {
	g.mu.Lock()
	defer g.mu.Unlock()
	f.callers--
	f.background = true
	if f.watch.Voided() {
		g.forget(f)
	}
}

// keyWritten forgets a load of which the key was written.
func (g *Group) keyWritten(f *flight) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.forget(f)
}

// forget hides a load from later callers, keeps its value from being stored, and
// abandons it if nobody waits for it. The caller holds mu.
func (g *Group) forget(f *flight) {
	f.watch.Void()
	if g.joinable[string(f.key)] == f {
		delete(g.joinable, string(f.key))
	}
	if f.callers == 0 {
		f.abandon()
	}
}

// loaderReturned notes a loader's result, before it is stored. There is
// nothing to cancel any more.
func (g *Group) loaderReturned(call *loaderCall, results []result) {
	g.mu.Lock()
	defer g.mu.Unlock()
	call.returned = true
	for i, f := range call.flights {
		if _, underWay := g.underWay[f]; underWay {
			f.result = results[i]
		}
	}
}

// end hands the result of a load to its callers. A load that has ended stays as
// it is.
func (g *Group) end(f *flight, res result) {
	g.mu.Lock()
	g.endLocked(f, res)
	g.mu.Unlock()
	g.store.Unwatch(&f.watch) // not before nobody can join: a write would not be noticed
}

func (g *Group) endLocked(f *flight, res result) {
	if _, underWay := g.underWay[f]; !underWay {
		return
	}
	if !f.abandoned {
		g.count.ended(res)
	}
	g.forget(f)
	f.abandon()
	delete(g.underWay, f)
	g.active.Add(-1)
	f.result = res
	close(f.done)
}

// endEarly ends the loads of a call without waiting for the loader, or for what it
// returned to be stored: its time is over, or nobody waits any more. A value that
// came in time is an answer, if not a stored one.
func (g *Group) endEarly(call *loaderCall, why error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, f := range call.flights {
		res := result{err: why}
		if call.returned && why == ErrTimeout {
			res = f.result
			res.unstored = why
		}
		g.endLocked(f, res)
	}
}
