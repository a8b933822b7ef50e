package tiered

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/firncache/firn/internal/ram"
	"github.com/firncache/firn/internal/shared"
)

// answer is what a lookup in all tiers has found.
type answer struct {
	sharedCopy
	known bool // the deadline is that of the entry
}

// found is the answer of a lookup that shows fresh values alone.
func (a *answer) found(dst []byte, err error) ([]byte, error) {
	switch {
	case err != nil:
		return dst, err
	case a.state != Fresh:
		return dst, ErrNotFound
	}
	return a.value, nil
}

// lookupShared is Lookup with a shared tier.
func (s *Store) lookupShared(ctx context.Context, dst, key []byte) ([]byte, error) {
	if callOf(ctx).SkipLocal {
		a, err := s.lookupTiers(ctx, dst, key)
		return a.found(dst, err)
	}
	return s.lookupCopies(ctx, dst, key)
}

// lookupCopies is lookupShared of a call that does not skip the local tiers.
func (s *Store) lookupCopies(ctx context.Context, dst, key []byte) ([]byte, error) {
	mark, hot := s.trust.Mark(), s.trust.Hot()
	n := s.ram.TryGet(dst, key)
	if n >= shared.TrailerLen {
		end := len(dst) + n
		if shared.StampOf(dst[:end])&^shared.Shortened == hot {
			s.keepAlive()
			return dst[:end-shared.TrailerLen], nil
		}
	}
	return s.finishShared(n, mark, ctx, dst, key)
}

// finishShared is the rest of a lookup after TryGet returned n.
//
//go:noinline
func (s *Store) finishShared(n int, mark uint64, ctx context.Context, dst, key []byte) ([]byte, error) {
	var v []byte
	var err error
	if n >= 0 {
		v = dst[:len(dst)+n]
	} else {
		v, err = s.finishLookup(n, ctx, dst, key)
	}
	call, hash := callOf(ctx), s.ram.Hash(key)
	have, err := s.copyFound(ctx, hash, len(dst), key, v, 0, InRAM, err)
	if err == nil && have.trusted && s.shared.trust.Since(mark) {
		have, err = s.copyOf(ctx, hash, dst, key)
	}
	if err != nil {
		return dst, err
	}
	a, err := s.lookupBelow(ctx, hash, len(dst), key, &have, &call)
	return a.found(dst, err)
}

func (s *Store) lookupEntryShared(ctx context.Context, dst, key []byte) (value []byte, deadline int64, at Place, err error) {
	a, err := s.lookupTiers(ctx, dst, key)
	if value, err = a.found(dst, err); err != nil {
		return dst, 0, 0, err
	}
	return value, a.deadline, a.at, nil
}

func (s *Store) lookupDeadlineShared(ctx context.Context, dst, key []byte) (value []byte, deadline int64, known bool, err error) {
	a, err := s.lookupTiers(ctx, dst, key)
	if value, err = a.found(dst, err); err != nil {
		return dst, 0, false, err
	}
	return value, a.deadline, a.known, nil
}

// LookupLocal is Lookup, of trusted copies in the local tiers alone, that also tells the
// deadline, if it is known.
func (s *Store) LookupLocal(ctx context.Context, dst, key []byte) (value []byte, deadline int64, known bool, err error) {
	if s.shared == nil {
		return s.LookupDeadline(ctx, dst, key)
	}
	if s.SkipsLocal(ctx) {
		return dst, 0, false, ErrNotFound
	}
	c, err := s.copyOf(ctx, s.ram.Hash(key), dst, key)
	switch {
	case err != nil:
		return dst, 0, false, err
	case c.state != Fresh || !c.trusted:
		return dst, 0, false, ErrNotFound
	}
	return c.value, c.deadline, !c.shortened(), nil
}

// lookupTiers looks a key up in all tiers, as the context's options say.
func (s *Store) lookupTiers(ctx context.Context, dst, key []byte) (answer, error) {
	call := callOf(ctx)
	hash := s.ram.Hash(key)
	have := sharedCopy{value: dst}
	if !call.SkipLocal {
		var err error
		if have, err = s.copyOf(ctx, hash, dst, key); err != nil {
			return answer{}, err
		}
	}
	return s.lookupBelow(ctx, hash, len(dst), key, &have, &call)
}

// lookupBelow is a lookup that has found a copy, behind n bytes, or none.
func (s *Store) lookupBelow(ctx context.Context, hash uint64, n int, key []byte, have *sharedCopy, call *shared.Call) (a answer, err error) {
	switch {
	case have.answers():
		return answer{*have, !have.shortened()}, nil
	case call.SkipShared:
		return a, nil
	case s.maySoon(have, call):
		a, err = s.askSoon(ctx, hash, n, key, have, call)
	default:
		a, err = s.ask(ctx, hash, n, key, have, call)
	}
	if err != nil && !errors.Is(err, shared.ErrNotFound) {
		return s.unanswered(ctx, have, call, n, err)
	}
	return a, nil
}

// maySoon reports whether a suspect copy is the answer if that comes late.
func (s *Store) maySoon(have *sharedCopy, call *shared.Call) bool {
	t := s.shared
	return t.policy.SoftTimeout > 0 && have.state == Fresh && t.degraded(call) == shared.DegradedStale
}

// askSoon is ask that waits for SoftTimeout at most. The check goes on, so that the copy is
// trusted when the answer has come.
func (s *Store) askSoon(ctx context.Context, hash uint64, n int, key []byte, have *sharedCopy, call *shared.Call) (answer, error) {
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
		a, err := s.ask(context.WithoutCancel(ctx), hash, n, key, &suspect, call)
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

// sharedRead is the heap memory of a read of the shared tier.
type sharedRead struct {
	watch ram.Watch
	ev    ram.Evicted
}

var sharedReads = sync.Pool{New: func() any { return new(sharedRead) }}

// done ends a read.
func (s *Store) done(r *sharedRead) {
	if !r.watch.Voided() { // it has not ended by itself
		s.Unwatch(&r.watch)
	}
	r.ev.Notify()
	sharedReads.Put(r)
}

// ask reads a key from the shared tier, and stores a copy unless the key is written, or
// invalidated, from before it was asked for until then. have is the copy that is suspect, if
// there is one, behind n bytes. With shared.ErrNotFound, the version is that of what is no
// value.
func (s *Store) ask(ctx context.Context, hash uint64, n int, key []byte, have *sharedCopy, call *shared.Call) (a answer, err error) {
	if s.ram.Closed() {
		return a, ErrClosed
	}
	r := sharedReads.Get().(*sharedRead)
	s.Watch(&r.watch, hash, key)
	defer s.done(r)
	f, err := s.readShared(ctx, key, have)
	a.value = have.value[:n]
	switch {
	case err == nil && f.Unchanged:
		return s.keepUnchanged(&r.watch, &r.ev, hash, n, key, have, &f, call), nil
	case err == nil:
		return s.keep(&r.watch, &r.ev, n, have, key, &f, call), nil
	case errors.Is(err, shared.ErrNotFound):
		a.version = f.Version
		s.missing(&r.watch, &r.ev, key, have)
	}
	return a, err
}

// readShared asks the shared tier for a key, behind the suspect copy, if there is one.
func (s *Store) readShared(ctx context.Context, key []byte, have *sharedCopy) (shared.Found, error) {
	if have.state != Miss {
		s.shared.count.checks.Add(1)
	}
	return s.shared.read(ctx, have.value, shared.Query{Key: key, Have: have.version})
}

// missing notes that the shared tier has nothing: the suspect copy is none of it.
func (s *Store) missing(w *ram.Watch, ev *ram.Evicted, key []byte, have *sharedCopy) {
	s.shared.count.misses.Add(1)
	if have.state != Miss {
		_ = s.write(&change{op: dropIf, key: key, watch: w, cause: ram.Invalidated, ev: ev})
	}
	if w.Voided() {
		s.notKept(w.Hash(), key, 0, ev)
	}
}

// notKept drops what is here of a key that a reader has found, of this version, in the shared
// tier and not stored: it may be what was there before, which he must not find next. Of many
// who read the same at once, and of whom one has stored it, none drops it.
func (s *Store) notKept(hash uint64, key []byte, found shared.Version, ev *ram.Evicted) {
	c := s.peekCopy(context.Background(), hash, nil, key, (*Store).peekUpper)
	if c.state == Miss && (s.ssd == nil || !s.ssd.Has(hash)) || c.state != Miss && c.version == found {
		return
	}
	s.drop(hash, key, ram.Invalidated, ev)
}

// keepUnchanged notes that a suspect copy is the latest.
func (s *Store) keepUnchanged(w *ram.Watch, ev *ram.Evicted, hash uint64, n int, key []byte, have *sharedCopy, f *shared.Found, call *shared.Call) answer {
	s.shared.count.unchanged.Add(1)
	a := answer{*have, true}
	a.deadline = f.Deadline
	if a.deadline >= 0 {
		a.state = s.stateOf(a.deadline)
	}
	switch {
	case f.Stamp == 0:
	case have.state == Stale && a.state == Fresh: // the copy has had its time, and gets another
		_ = s.setCopy(w, key, have.value[n:], have.version, f.Stamp, f.Deadline, call, ev)
	case s.ram.SetTail(w, uint64(have.version), uint64(f.Stamp|have.stamp&shared.Shortened)) && s.ssd == nil:
	default: // on the SSD, or on its way there: nothing is written for it, also not when RAM's copy leaves
		s.shared.trust.Restamp(hash, have.version, f.Stamp)
	}
	s.keepAlive()
	return a
}

// keep stores a copy of what was found, behind the n bytes of dst and the value of the suspect
// copy.
func (s *Store) keep(w *ram.Watch, ev *ram.Evicted, n int, have *sharedCopy, key []byte, f *shared.Found, call *shared.Call) answer {
	s.shared.count.hits.Add(1)
	a := answer{sharedCopy{version: f.Version, deadline: f.Deadline, at: InShared, state: Negative}, true}
	a.value = append(f.Value[:n], f.Value[len(have.value):]...)
	if f.Deadline >= 0 {
		a.state = s.stateOf(f.Deadline)
	}
	if f.Stamp == 0 || a.state == Stale && s.grace.Load() == 0 || s.setCopy(w, key, a.value[n:], f.Version, f.Stamp, f.Deadline, call, ev) != nil {
		s.notKept(w.Hash(), key, f.Version, ev)
	}
	return a
}

// unanswered is the answer of a lookup for which the shared tier gave none.
func (s *Store) unanswered(ctx context.Context, have *sharedCopy, call *shared.Call, n int, err error) (answer, error) {
	t := s.shared
	t.count.errors.Add(1)
	d := t.degraded(call)
	switch {
	case t.closing.Load():
		return answer{}, ErrClosed
	case have.state == Fresh && d == shared.DegradedStale:
		t.count.staleServed.Add(1)
		return answer{*have, !have.shortened()}, nil
	case ctx.Err() != nil:
		return answer{}, ctx.Err()
	case d == shared.DegradedError:
		return answer{}, err
	}
	return answer{sharedCopy: sharedCopy{value: have.value[:n]}}, nil
}
