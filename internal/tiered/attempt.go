package tiered

import (
	"context"
	"errors"

	"github.com/firncache/firn/internal/ram"
	"github.com/firncache/firn/internal/ssd"
)

// Attempt is one try to change a key by what it holds. No lock is held between its calls,
// which are, in this order:
//
//	s.Begin(a, key)                   from here on, writes of the key are noticed
//	s.Look(ctx, a, dst)               what it holds, or an error: nothing is known then
//	s.Replace(a, …), or s.Update, s.Remove    ErrChanged if it was written since Begin
//	s.End(a)
//
// What moves a record between the tiers, evicts it or lets it expire is no write. The
// zero Attempt is ready for use, and for use again after End.
type Attempt struct {
	watch ram.Watch
	key   []byte
	ev    ram.Evicted

	seen seenShared // with a shared tier
}

// Begin begins an attempt. The caller keeps the key as it is until End.
func (s *Store) Begin(a *Attempt, key []byte) {
	a.key = key
	s.Watch(&a.watch, s.Prefetch(key), key)
}

// End ends an attempt, whatever came of it.
func (s *Store) End(a *Attempt) {
	if !a.watch.Voided() { // it has not ended by itself
		s.Unwatch(&a.watch)
	}
	a.key, a.seen = nil, seenShared{}
}

// Look appends the value of the attempt's key to dst, and tells its deadline, 0 for
// never. Without a live value it reports false, and dst as it was; if whether there is one
// cannot be told, the error says why: it is one of Lookup's, or ErrChanged if the
// attempt has failed. It counts as a read.
func (s *Store) Look(ctx context.Context, a *Attempt, dst []byte) (value []byte, deadline int64, ok bool, err error) {
	if s.shared != nil {
		return s.lookAtShared(ctx, a, dst)
	}
	value, deadline, ok = s.ram.GetWithDeadline(dst, a.key)
	switch {
	case ok:
	case s.ssd != nil:
		value, deadline, ok, err = s.lookBelow(ctx, a, dst, s.answer)
	default:
		if err = s.MissError(ctx); err == ErrNotFound {
			err = nil
		}
	}
	s.keepAlive()
	return value, deadline, ok, err
}

// lookBelow is Look for a key that RAM did not have. found is called for a value that is on
// the SSD, and returns its deadline: answer for a read, promote for what is none.
func (s *Store) lookBelow(ctx context.Context, a *Attempt, dst []byte, found func(hash uint64, key, value []byte, f *ssd.Found) int64) (value []byte, deadline int64, ok bool, err error) {
	hash := a.watch.Hash()
	for ctx.Err() == nil && !a.watch.Voided() {
		f, err := s.getUncleared(ctx, dst, a.key, hash)
		if err == nil {
			return f.Value, found(hash, a.key, f.Value[len(dst):], &f), true, nil
		}
		if v, deadline, ok := s.ram.Peek(hash, dst, a.key); ok { // though it may be obsolete: so it is not Absent
			return v, deadline, true, nil
		}
		missing := errors.Is(err, ssd.ErrNotFound)
		switch {
		case s.ram.Closed() || !missing && !errors.Is(err, ssd.ErrChanged):
			return dst, 0, false, s.lookupError(ctx, err)
		case missing && s.ram.Absent(hash, a.key, func() bool { return s.ssd.lacks(hash, f.Token) }):
			s.ram.TellLower(hash, false, len(a.key), 0, 0)
			return dst, 0, false, nil
		}
	}
	if err = ctx.Err(); err == nil {
		err = ErrChanged
	}
	return dst, 0, false, err
}

// getUncleared is Get of the SSD tier for a watched key. While both tiers are being cleared,
// what is there is gone: if Clear has been where the key is watched, the watch does not
// tell of it any more.
func (s *Store) getUncleared(ctx context.Context, dst, key []byte, hash uint64) (ssd.Found, error) {
	if s.ssd.clearing.Load() != 0 {
		return ssd.Found{}, ssd.ErrNotFound
	}
	return s.ssd.tier.Get(ctx, dst, key, hash)
}

// Replace stores a value for the attempt's key. It fails with ErrChanged if somebody else has
// written that, and as Set does. A deadline of 0 is never.
func (s *Store) Replace(a *Attempt, value []byte, deadline int64) error {
	return s.attempt(a, &change{op: setIf, value: value, deadline: deadline})
}

// Update is Replace that keeps the deadline that the key has by now: a Touch since the look
// counts as no write, and is heeded though the record has left RAM since, or expired. The one
// given is that of Look.
func (s *Store) Update(a *Attempt, value []byte, deadline int64) error {
	return s.attempt(a, &change{op: updateIf, value: value, deadline: deadline})
}

// Remove deletes the attempt's key, as Replace stores.
func (s *Store) Remove(a *Attempt) error { return s.attempt(a, &change{op: removeIf}) }

func (s *Store) attempt(a *Attempt, w *change) error {
	if s.shared != nil {
		return s.attemptShared(a, w)
	}
	w.key, w.watch, w.ev = a.key, &a.watch, &a.ev
	err := s.write(w)
	a.ev.Notify()
	return err
}
