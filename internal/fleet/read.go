package fleet

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/firncache/firn/internal/evicted"
	"github.com/firncache/firn/internal/local"
	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/internal/watch"
)

// Lookup is Lookup with a shared tier.
func (s *Fleet) Lookup(ctx context.Context, dst, key []byte) ([]byte, error) {
	if callOf(ctx).SkipLocal {
		a, err := s.lookupTiers(ctx, dst, key)
		return a.found(dst, err)
	}
	return s.lookupCopies(ctx, dst, key)
}

// Get is Lookup that reports alone whether there is a value.
func (s *Fleet) Get(dst, key []byte) ([]byte, bool) {
	v, err := s.lookupCopies(context.Background(), dst, key)
	return v, err == nil
}

// lookupCopies is Lookup of a call that does not skip the local tiers.
func (s *Fleet) lookupCopies(ctx context.Context, dst, key []byte) ([]byte, error) {
	mark, hot := s.trust.Mark(), s.trust.Hot()
	n := s.local.RAM.TryGet(dst, key)
	if end := len(dst) + n; n >= 0 && isHot(dst[:end], n, hot) {
		s.local.KeepAlive()
		return dst[:end-shared.TrailerLen], nil
	}
	return s.finishLookup(n, mark, hot, ctx, dst, key)
}

// isHot reports whether the last n bytes are a copy with the stamp of those that are trusted now.
func isHot(v []byte, n int, hot shared.Stamp) bool {
	return n >= shared.TrailerLen && shared.StampOf(v)&^shared.Shortened == hot
}

// finishLookup is the rest of a lookup after TryGet returned n, which it does below 0 for keys that
// the policy samples, too.
//
//go:noinline
func (s *Fleet) finishLookup(n int, mark uint64, hot shared.Stamp, ctx context.Context, dst, key []byte) ([]byte, error) {
	var v []byte
	var err error
	if n >= 0 {
		v = dst[:len(dst)+n]
	} else if v, err = s.local.FinishLookup(n, ctx, dst, key); err == nil && isHot(v, len(v)-len(dst), hot) {
		return v[:len(v)-shared.TrailerLen], nil
	}
	call, hash := callOf(ctx), s.local.RAM.Hash(key)
	have, err := s.copyFound(ctx, hash, len(dst), key, v, 0, local.InRAM, err)
	if err == nil && have.trusted && s.shared.trust.Since(mark) {
		have, err = s.copyOf(ctx, hash, dst, key)
	}
	if err != nil {
		return dst, err
	}
	a, err := s.lookupServer(ctx, hash, len(dst), key, &have, &call)
	return a.found(dst, err)
}

// LookupEntry is Lookup that also returns the deadline, 0 for never, and the value's place.
func (s *Fleet) LookupEntry(ctx context.Context, dst, key []byte) (value []byte, deadline int64, at local.Place, err error) {
	a, err := s.lookupTiers(ctx, dst, key)
	if value, err = a.found(dst, err); err != nil {
		return dst, 0, 0, err
	}
	return value, a.deadline, a.at, nil
}

// LookupDeadline is Lookup that also returns the deadline, if it is known.
func (s *Fleet) LookupDeadline(ctx context.Context, dst, key []byte) (value []byte, deadline int64, known bool, err error) {
	a, err := s.lookupTiers(ctx, dst, key)
	if value, err = a.found(dst, err); err != nil {
		return dst, 0, false, err
	}
	return value, a.deadline, a.known, nil
}

// LookupLocal is Lookup, of trusted copies in the local tiers alone, that also returns the
// deadline, if it is known.
func (s *Fleet) LookupLocal(ctx context.Context, dst, key []byte) (value []byte, deadline int64, known bool, err error) {
	if callOf(ctx).SkipLocal {
		return dst, 0, false, local.ErrNotFound
	}
	c, err := s.copyOf(ctx, s.local.RAM.Hash(key), dst, key)
	switch {
	case err != nil:
		return dst, 0, false, err
	case c.state != local.Fresh || !c.trusted:
		return dst, 0, false, local.ErrNotFound
	}
	return c.value, c.deadline, !c.shortened(), nil
}

// lookupTiers looks a key up in all tiers, as the context's options say.
func (s *Fleet) lookupTiers(ctx context.Context, dst, key []byte) (answer, error) {
	call := callOf(ctx)
	hash := s.local.RAM.Hash(key)
	have := localCopy{value: dst}
	if !call.SkipLocal {
		var err error
		if have, err = s.copyOf(ctx, hash, dst, key); err != nil {
			return answer{}, err
		}
	}
	return s.lookupServer(ctx, hash, len(dst), key, &have, &call)
}

// lookupServer is a lookup that has found a copy, behind n bytes, or none.
func (s *Fleet) lookupServer(ctx context.Context, hash uint64, n int, key []byte, have *localCopy, call *shared.Call) (a answer, err error) {
	switch {
	case have.answers():
		return answer{*have, !have.shortened()}, nil
	case call.SkipShared:
		return a, nil
	case s.mayServeSuspect(have, call):
		a, err = s.fetchWithSoftTimeout(ctx, hash, n, key, have, call)
	default:
		a, err = s.fetch(ctx, hash, n, key, have, call)
	}
	if err != nil && !errors.Is(err, shared.ErrNotFound) {
		return s.degradedAnswer(ctx, have, call, n, err)
	}
	return a, nil
}

// mayServeSuspect reports whether a suspect copy is the answer if that comes late.
func (s *Fleet) mayServeSuspect(have *localCopy, call *shared.Call) bool {
	t := s.shared
	return t.policy.SoftTimeout > 0 && have.state == local.Fresh && t.degraded(call) == shared.DegradedStale
}

// fetchWithSoftTimeout is fetch that waits for SoftTimeout at most. The check goes on, so that the copy is
// trusted when the answer has come.
func (s *Fleet) fetchWithSoftTimeout(ctx context.Context, hash uint64, n int, key []byte, have *localCopy, call *shared.Call) (answer, error) {
	type result struct {
		a   answer
		err error
	}
	late := time.NewTimer(s.shared.policy.SoftTimeout)
	defer late.Stop()
	key, suspect := bytes.Clone(key), *have // the caller's are his own again when he has the answer
	suspect.value = bytes.Clone(have.value)
	done := make(chan result, 1)
	go func() {
		a, err := s.fetch(context.WithoutCancel(ctx), hash, n, key, &suspect, call)
		done <- result{a, err}
	}()
	select {
	case r := <-done:
		return r.a, r.err
	case <-late.C:
		return answer{}, context.DeadlineExceeded
	case <-ctx.Done():
		return answer{}, ctx.Err()
	}
}

// request is the heap memory of a read of the shared tier.
type request struct {
	watch watch.Watch
	ev    evicted.List
}

var requests = sync.Pool{New: func() any { return new(request) }}

// done ends a read.
func (s *Fleet) done(r *request) {
	if !r.watch.Voided() { // it has not ended by itself
		s.local.Unwatch(&r.watch)
	}
	r.ev.Notify()
	requests.Put(r)
}

// fetch reads a key from the shared tier, and stores a copy unless the key is written, or
// invalidated, from before the request until then. have is the copy that is suspect, if
// there is one, behind n bytes. With shared.ErrNotFound, the version is that of what is no
// value.
func (s *Fleet) fetch(ctx context.Context, hash uint64, n int, key []byte, have *localCopy, call *shared.Call) (a answer, err error) {
	if s.local.RAM.Closed() {
		return a, local.ErrClosed
	}
	r := requests.Get().(*request)
	s.local.Watch(&r.watch, hash, key)
	defer s.done(r)
	f, err := s.readServer(ctx, key, have)
	a.value = have.value[:n]
	switch {
	case err == nil && f.Unchanged:
		return s.restampCopy(&r.watch, &r.ev, hash, n, key, have, &f, call), nil
	case err == nil:
		return s.storeFound(&r.watch, &r.ev, n, have, key, &f, call), nil
	case errors.Is(err, shared.ErrNotFound):
		a.version = f.Version
		s.noteAbsent(&r.watch, &r.ev, key, have)
	}
	return a, err
}

// readServer reads a key from the shared tier, behind the suspect copy, if there is one.
func (s *Fleet) readServer(ctx context.Context, key []byte, have *localCopy) (shared.Found, error) {
	if have.state != local.Miss {
		s.shared.count.checks.Add(1)
	}
	return s.shared.read(ctx, have.value, shared.Query{Key: key, Have: have.version})
}

// noteAbsent notes that the shared tier has nothing: the suspect copy is none of it.
func (s *Fleet) noteAbsent(w *watch.Watch, ev *evicted.List, key []byte, have *localCopy) {
	s.shared.count.misses.Add(1)
	if have.state != local.Miss {
		_ = s.local.Write(&local.Change{Op: local.OpDropIf, Key: key, Watch: w, Cause: evicted.Invalidated, Evicted: ev})
	}
	if w.Voided() {
		s.dropUnstored(w.Hash(), key, 0, ev)
	}
}

// dropUnstored drops the copy of a key that a reader has found, in this version, in the shared
// tier and not stored: the copy may be an older one, which the reader must not find next. If one
// of many readers at once has stored it, none drops it.
func (s *Fleet) dropUnstored(hash uint64, key []byte, found shared.Version, ev *evicted.List) {
	c := s.peekCopy(context.Background(), hash, nil, key, peekUpper)
	if c.state == local.Miss && (!s.local.MayBeOnSSD(hash)) || c.state != local.Miss && c.version == found {
		return
	}
	s.invalidate(hash, key, evicted.Invalidated, ev)
}

// restampCopy notes that a suspect copy is the latest.
func (s *Fleet) restampCopy(w *watch.Watch, ev *evicted.List, hash uint64, n int, key []byte, have *localCopy, f *shared.Found, call *shared.Call) answer {
	s.shared.count.unchanged.Add(1)
	a := answer{*have, true}
	a.deadline = f.Deadline
	if a.deadline >= 0 {
		a.state = s.local.StateOf(a.deadline)
	}
	switch {
	case f.Stamp == 0:
	case have.state == local.Stale && a.state == local.Fresh: // the copy has had its time, and gets another
		_ = s.setCopy(w, key, have.value[n:], have.version, f.Stamp, f.Deadline, call, ev)
	case s.local.RAM.SetTail(w, uint64(have.version), uint64(f.Stamp|have.stamp&shared.Shortened)) && !s.local.HasSSD():
	default: // on the SSD, or on its way there: nothing is written for it, also not when RAM's copy leaves
		s.shared.trust.Restamp(hash, have.version, f.Stamp)
	}
	s.local.KeepAlive()
	return a
}

// storeFound stores a copy of what was found, behind the n bytes of dst and the value of the suspect
// copy.
func (s *Fleet) storeFound(w *watch.Watch, ev *evicted.List, n int, have *localCopy, key []byte, f *shared.Found, call *shared.Call) answer {
	s.shared.count.hits.Add(1)
	a := answer{localCopy{version: f.Version, deadline: f.Deadline, at: local.InShared, state: local.Negative}, true}
	a.value = append(f.Value[:n], f.Value[len(have.value):]...)
	if f.Deadline >= 0 {
		a.state = s.local.StateOf(f.Deadline)
	}
	if f.Stamp == 0 || a.state == local.Stale && s.local.Grace() == 0 || s.setCopy(w, key, a.value[n:], f.Version, f.Stamp, f.Deadline, call, ev) != nil {
		s.dropUnstored(w.Hash(), key, f.Version, ev)
	}
	return a
}

// degradedAnswer is the answer of a lookup for which the shared tier gave none.
func (s *Fleet) degradedAnswer(ctx context.Context, have *localCopy, call *shared.Call, n int, err error) (answer, error) {
	t := s.shared
	t.count.errors.Add(1)
	d := t.degraded(call)
	switch {
	case t.closing.Load():
		return answer{}, local.ErrClosed
	case have.state == local.Fresh && d == shared.DegradedStale:
		t.count.staleServed.Add(1)
		return answer{*have, !have.shortened()}, nil
	case ctx.Err() != nil:
		return answer{}, ctx.Err()
	case d == shared.DegradedError:
		return answer{}, err
	}
	return answer{localCopy: localCopy{value: have.value[:n]}}, nil
}
