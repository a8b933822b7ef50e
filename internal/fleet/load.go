package fleet

import (
	"context"
	"errors"

	"github.com/firncache/firn/internal/evicted"
	"github.com/firncache/firn/internal/local"
	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/internal/watch"
)

// SkipsLocal reports whether a call with this context reads the shared tier, whatever copies
// there are.
func (s *Fleet) SkipsLocal(ctx context.Context) bool { return callOf(ctx).SkipLocal }

// LookupMultiForLoad is LookupMulti for a caller who loads what is missing, with the context
// that it returns: one that skips the shared tier if that is unavailable. So no caller
// waits for it twice. What could not be read is missing.
func (s *Fleet) LookupMultiForLoad(ctx context.Context, b *Batch, keys [][]byte) context.Context {
	_ = s.LookupMulti(ctx, b, keys)
	if !b.inShared.failed || len(b.inShared.queries) == 0 || ctx.Err() != nil {
		return ctx
	}
	ctx, _ = s.withoutServer(ctx)
	return ctx
}

// withoutServer is a context of loads that skip the shared tier. With DegradedError there is none: each
// load is to fail.
func (s *Fleet) withoutServer(ctx context.Context) (context.Context, bool) {
	call := callOf(ctx)
	if s.shared.degraded(&call) == shared.DegradedError {
		return ctx, false
	}
	call.SkipShared = true
	return shared.WithCall(ctx, call), true
}

// Apart is a context of loads in a generation of this process alone: what they load is kept here for
// Policy.Bound, and no longer. It reports false if they are to fail.
func (s *Fleet) Apart(ctx context.Context) (context.Context, bool) {
	ctx, ok := s.withoutServer(ctx)
	if call := shared.CallOf(ctx); ok {
		call.Degraded, call.HasDegraded = shared.DegradedMiss, true
		ctx = shared.WithCall(ctx, call)
	}
	return ctx, ok
}

// Ask reads or leases in the shared tier a key that is about to be loaded, and that the caller
// watches. A value that it finds is stored as a copy under that watch, which goes on. A suspect copy
// is checked; a trusted one is an answer, except with AskAnew; a negative entry only if negatives
// says so. If the tier is unavailable, the answer is what Policy.Degraded makes it, or a miss, and
// the Lease knows nothing.
func (s *Fleet) Ask(ctx context.Context, w *watch.Watch, key []byte, how Asking, negatives bool, ev *evicted.List) Asked {
	call := callOf(ctx)
	a := Asked{negatives: negatives}
	s.answerForLoad(ctx, w, key, how, &a, &call, ev)
	a.Lease.began, a.Lease.salt = s.trust.Moment(), s.trust.Salt()
	if how != AskAnew && s.shared.degraded(&call) == shared.DegradedError {
		a.Err = a.Lease.err
	}
	return a
}

func (s *Fleet) answerForLoad(ctx context.Context, w *watch.Watch, key []byte, how Asking, a *Asked, call *shared.Call, ev *evicted.List) {
	a.Lease.anew = how == AskAnew
	if call.SkipShared {
		return
	}
	w, end := s.watchAnew(w, key)
	defer end()
	var have localCopy
	if !call.SkipLocal {
		have = s.peekCopy(ctx, w.Hash(), nil, key, (*local.Store).PeekTiers)
	}
	asked := false
	if have.state != local.Miss && !have.answers() || have.state == local.Miss && how == AskValue {
		if have, a.Lease.err = s.fetchWatched(ctx, w, key, &have, call, ev); a.Lease.err != nil {
			a.is(&have, s.local.Now())
			return
		}
		asked = true
	}
	a.is(&have, s.local.Now())
	s.judge(key, a)
	if s.isNoAnswer(a) {
		a.State = local.Miss
	}
	if a.State == local.Fresh && how != AskAnew || a.State == local.Negative || how == AskValue {
		return
	}
	s.lease(ctx, w, key, &have, asked, a, call, ev)
}

// isNoAnswer reports whether a negative entry is none: for this caller, or for all.
func (s *Fleet) isNoAnswer(a *Asked) bool {
	return a.State == local.Negative && (!a.negatives || s.local.IsNegativeObsolete(a.Value))
}

// fetchWatched is fetch for a key that the caller watches. With an error the copy is what
// Policy.Degraded makes the answer; without one and with no value, it is a miss.
func (s *Fleet) fetchWatched(ctx context.Context, w *watch.Watch, key []byte, have *localCopy, call *shared.Call, ev *evicted.List) (localCopy, error) {
	f, err := s.readServer(ctx, key, have)
	switch {
	case err == nil && f.Unchanged:
		return s.restampCopy(w, ev, w.Hash(), 0, key, have, &f, call).localCopy, nil
	case err == nil:
		return s.storeFound(w, ev, 0, have, key, &f, call).localCopy, nil
	case errors.Is(err, shared.ErrNotFound):
		s.noteAbsent(w, ev, key, have)
		return localCopy{}, nil
	}
	degraded, failed := s.degradedAnswer(ctx, have, call, 0, err)
	if failed != nil {
		return localCopy{}, failed
	}
	return degraded.localCopy, err
}

// lease leases a key. have is the copy: a miss, or a value that is not the answer.
func (s *Fleet) lease(ctx context.Context, w *watch.Watch, key []byte, have *localCopy, asked bool, a *Asked, call *shared.Call, ev *evicted.List) {
	t := s.shared
	expect, f, err := t.leaseFor(ctx, shared.Query{Key: key, Have: have.version})
	if err != nil && !errors.Is(err, shared.ErrLeased) {
		if a.Lease.err = err; ctx.Err() == nil && !t.closing.Load() {
			t.count.errors.Add(1)
		}
		return
	}
	a.Lease.expect, a.Lease.known, a.Leased = expect, true, err != nil
	switch {
	case f != nil:
		found := s.storeFound(w, ev, 0, &localCopy{}, key, f, call)
		a.is(&found.localCopy, s.local.Now())
		s.leaseOutdated(ctx, key, f.Version, a)
	case have.state != local.Miss && expect.Version == have.version: // the latest
	case have.state != local.Miss || !asked:
		s.noteAbsent(w, ev, key, have)
		a.is(&localCopy{}, 0)
	}
}

// judge makes a fresh answer a stale one, and reports it, if that is known by its tags.
func (s *Fleet) judge(key []byte, a *Asked) (stale bool) {
	if a.State != local.Fresh {
		return false
	}
	_, deadline, state := s.local.Judge(key, a.Value, a.Deadline, a.State)
	if state != local.Stale {
		return false
	}
	a.Deadline, a.State = deadline, state
	return true
}

// leaseOutdated leases a key whose value in the shared tier is obsolete, or stale by its tags.
func (s *Fleet) leaseOutdated(ctx context.Context, key []byte, version shared.Version, a *Asked) {
	switch {
	case s.isNoAnswer(a), a.State != local.Negative && s.local.IsObsolete(key, a.Value):
		a.is(&localCopy{}, 0)
	case !s.judge(key, a):
		return
	}
	if a.Lease.Held() || a.Leased {
		return
	}
	expect, f, err := s.shared.leaseFor(ctx, shared.Query{Key: key, Have: version})
	if f == nil && (err == nil || errors.Is(err, shared.ErrLeased)) {
		a.Lease.expect, a.Leased = expect, err != nil
	}
}

// watchAnew is another watch in place of one that is void, until end is called. A push has
// voided that, often one from before the caller's request, such as for another process's lease.
// The void watch is not needed: the server compares the entry with the one that the load
// expects, and a copy that the load stores here is watched from before its request.
func (s *Fleet) watchAnew(w *watch.Watch, key []byte) (anew *watch.Watch, end func()) {
	if !w.Voided() {
		return w, func() {}
	}
	anew = &watch.Watch{Written: watch.WrittenFunc(func() {})} // so that it outlives its own writes
	s.local.Watch(anew, w.Hash(), key)
	return anew, func() { s.local.Unwatch(anew) }
}

// Await waits until the process that has leased a key has stored a value, has given up, or has
// had its time. With an error, the caller is to load the key.
func (s *Fleet) Await(ctx context.Context, key []byte, l Lease) error {
	if !l.known {
		return shared.ErrUnavailable
	}
	return s.shared.tier.Await(ctx, key, l.expect)
}

// Release gives up a lease that is held. It does not wait.
func (s *Fleet) Release(key []byte, l Lease) {
	if l.Held() {
		s.shared.tier.Release(key, l.expect)
	}
}

// isVoid reports whether what was loaded is not to be stored, as its key was written meanwhile. Where the
// version on the server is known, the server decides: a push for another's lease voids a watch, too.
func (l *Lease) isVoid(w *watch.Watch) bool { return w.Voided() && l.expect.Version == 0 }

// SetLoaded is SetIf of a value that was loaded, in the shared tier too: there it replaces
// what the Lease knows, and nothing else. If the key was written meanwhile, here or
// there, nothing is stored, and that is no error. A value that the shared tier did not
// get is kept as storeSuspect says. spent says
// that the Lease is used up.
func (s *Fleet) SetLoaded(ctx context.Context, w *watch.Watch, l Lease, key, value []byte, deadline int64, ev *evicted.List) (spent bool, err error) {
	if l.isVoid(w) {
		return false, nil
	}
	e := shared.Entry{Key: key, Value: value, Deadline: deadline}
	if !l.known {
		s.storeSuspect(ctx, w, &l, &e, ev)
		return false, l.err
	}
	voided := w.Voided()                                // this process may have written the key
	s.invalidateIfWatched(w, key, evicted.Replaced, ev) // the server may have another value soon
	anew, end := s.watchAnew(w, key)
	defer end()
	written, err := s.shared.tier.Write(ctx, e, l.expect)
	switch {
	case err == nil:
		call := callOf(ctx)
		s.storeOrInvalidate(anew, &e, written, written.Stamp != 0, &call, ev)
		return true, nil
	case errors.Is(err, shared.ErrChanged):
		return false, nil
	case errors.Is(err, shared.ErrTooLarge), voided:
	default:
		s.storeSuspect(ctx, anew, &l, &e, ev)
	}
	return false, s.writeError(&e, err)
}

// storeSuspect keeps an entry that the shared tier may not have, as a trusted copy for Policy.Bound
// after its loader began: it is loaded once in that time, however long the tier is
// away. Afterwards it is a suspect one, if Policy.Degraded lets those be answers.
func (s *Fleet) storeSuspect(ctx context.Context, w *watch.Watch, l *Lease, e *shared.Entry, ev *evicted.List) {
	kept, call := *e, callOf(ctx)
	stamp, left := s.trust.Alone(l.began, s.shared.policy.Bound.Milliseconds(), l.salt)
	switch {
	case s.shared.degraded(&call) == shared.DegradedStale:
	case left == 0:
		s.invalidate(w.Hash(), e.Key, evicted.Invalidated, ev)
		return
	default:
		kept.Deadline, stamp = shorten(e.Deadline, s.local.Now()+left, stamp)
	}
	s.storeOrInvalidate(w, &kept, shared.Written{Stamp: stamp}, true, &call, ev)
}

// invalidateIfWatched ends the copy of a key that a load holds, unless the key was written since: what
// is there then is newer.
func (s *Fleet) invalidateIfWatched(w *watch.Watch, key []byte, cause evicted.Cause, ev *evicted.List) {
	_ = s.local.Write(&local.Change{Op: local.OpDropIf, Key: key, Watch: w, Cause: cause, Evicted: ev})
}

// DeleteLoaded is DeleteIf of a key for which a load has found no value to keep, in the shared
// tier too, as SetLoaded is SetIf.
func (s *Fleet) DeleteLoaded(ctx context.Context, w *watch.Watch, l Lease, key []byte, ev *evicted.List) error {
	if l.isVoid(w) {
		return nil
	}
	s.invalidateIfWatched(w, key, evicted.Deleted, ev)
	expect := l.expect
	switch {
	case !l.known && !l.anew: // what may be there would have been the answer
		return nil
	case !l.known:
		expect = shared.Anything
	case expect.Version == expect.Leased: // there is the lease alone, which is released
		return nil
	}
	err := s.shared.tier.Remove(ctx, key, expect)
	s.invalidate(w.Hash(), key, evicted.Invalidated, ev) // and voids reads that found what was there
	if errors.Is(err, shared.ErrChanged) {
		return nil
	}
	return s.writeError(&shared.Entry{Key: key}, err)
}
