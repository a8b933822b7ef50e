package tiered

import (
	"context"
	"errors"

	"github.com/firncache/firn/internal/ram"
	"github.com/firncache/firn/internal/ssd"
)

// Get appends the value of key to dst. Without one it returns dst as it was, and
// false. The room behind dst must not overlap key. It counts as a read.
func (s *Store) Get(dst, key []byte) ([]byte, bool) {
	if s.shared != nil {
		return s.getShared(dst, key)
	}
	n := s.ram.TryGet(dst, key)
	if n >= 0 {
		s.keepAlive()
		return dst[:len(dst)+n], true
	}
	if n == ram.Absent && s.ssd == nil {
		s.keepAlive()
		return dst, false
	}
	return s.finishGet(n, dst, key)
}

// finishGet is the rest of Get after TryGet returned n.
//
//go:noinline
func (s *Store) finishGet(n int, dst, key []byte) ([]byte, bool) {
	v, err := s.finishLookup(n, context.Background(), dst, key)
	return v, err == nil
}

// Lookup is Get with a context and with errors: those of the SSD tier, of the
// context, ErrNotFound and ErrClosed. With one it returns dst as it was.
func (s *Store) Lookup(ctx context.Context, dst, key []byte) ([]byte, error) {
	if s.shared != nil {
		return s.lookupShared(ctx, dst, key)
	}
	n := s.ram.TryGet(dst, key)
	if n < 0 {
		return s.finishLookup(n, ctx, dst, key)
	}
	s.keepAlive()
	return dst[:len(dst)+n], nil
}

// finishLookup is the rest of Lookup after TryGet returned n.
func (s *Store) finishLookup(n int, ctx context.Context, dst, key []byte) ([]byte, error) {
	v, ok := s.ram.FinishGet(n, dst, key)
	var err error
	switch {
	case ok:
	case s.ssd == nil:
		err = s.MissError(ctx)
	default:
		v, err = s.lookupSSD(ctx, s.ram.Hash(key), dst, key)
	}
	s.keepAlive()
	return v, err
}

// LookupDeadline is Lookup that also tells the deadline, if that is known: of a copy that
// does not live as long as its entry it is not.
func (s *Store) LookupDeadline(ctx context.Context, dst, key []byte) (value []byte, deadline int64, known bool, err error) {
	if s.shared != nil {
		return s.lookupDeadlineShared(ctx, dst, key)
	}
	value, deadline, _, err = s.lookupLocal(ctx, dst, key)
	return value, deadline, err == nil, err
}

// Place is where a value was found.
type Place uint8

// The places.
const (
	InRAM Place = iota
	OnSSD
	InShared
)

// LookupEntry is Lookup that also tells the deadline, 0 for never, and where the value was
// found. A deadline that slides has moved.
func (s *Store) LookupEntry(ctx context.Context, dst, key []byte) (value []byte, deadline int64, at Place, err error) {
	if s.shared != nil {
		return s.lookupEntryShared(ctx, dst, key)
	}
	value, deadline, onSSD, err := s.lookupLocal(ctx, dst, key)
	return value, deadline, placeOf(onSSD), err
}

func placeOf(onSSD bool) Place {
	if onSSD {
		return OnSSD
	}
	return InRAM
}

// lookupLocal is LookupEntry of the local tiers.
func (s *Store) lookupLocal(ctx context.Context, dst, key []byte) (value []byte, deadline int64, onSSD bool, err error) {
	value, deadline, ok := s.ram.GetWithDeadline(dst, key)
	switch {
	case ok:
	case s.ssd == nil:
		err = s.MissError(ctx)
	default:
		value, deadline, onSSD, err = s.lookupSSDEntry(ctx, s.ram.Hash(key), dst, key)
	}
	s.keepAlive()
	return value, deadline, onSSD, err
}

// SlideLead is how long before its deadline a read moves it, at the earliest, in
// milliseconds, and even; 0 if none does.
func (s *Store) SlideLead() int64 { return s.ram.SlideLead() }

// MissError is why nothing was found in RAM alone.
func (s *Store) MissError(ctx context.Context) error {
	closed := s.ram.Closed()
	s.keepAlive()
	if closed {
		return ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return ErrNotFound
}

// PeekFresh is Get of RAM alone that counts as no read. It takes no lock.
func (s *Store) PeekFresh(dst, key []byte) ([]byte, bool) {
	if s.shared != nil {
		return s.peekFreshShared(dst, key)
	}
	v, _, ok := s.ram.Peek(s.ram.Hash(key), dst, key)
	s.keepAlive()
	return v, ok
}

// State is the state of a key in a store.
type State uint8

// The states.
const (
	Miss     State = iota // nothing
	Fresh                 // a value
	Stale                 // a value past its deadline, within its grace
	Negative              // that there is no value: see SetIf
)

// Peek appends to dst the value that the store has of a key with this hash, also if Get
// does not tell it, but none that is obsolete. It counts as no read. A fresh value is looked for in RAM alone: a caller
// who loads has looked below already.
func (s *Store) Peek(ctx context.Context, hash uint64, dst, key []byte) (v []byte, deadline int64, state State) {
	if !s.grace {
		return s.PeekRAM(hash, dst, key)
	}
	return s.PeekTiers(ctx, hash, dst, key)
}

// PeekTiers is Peek that looks for a fresh value on the SSD, too.
func (s *Store) PeekTiers(ctx context.Context, hash uint64, dst, key []byte) (v []byte, deadline int64, state State) {
	if s.shared != nil {
		return s.peekTiersShared(ctx, hash, dst, key)
	}
	return s.peekLocal(ctx, hash, dst, key)
}

// peekLocal is PeekTiers of the local tiers.
func (s *Store) peekLocal(ctx context.Context, hash uint64, dst, key []byte) (v []byte, deadline int64, state State) {
	v, deadline, state = s.peekRAM(hash, dst, key)
	if state == Miss && s.ssd != nil {
		f, err := s.ssd.tier.GetStale(ctx, dst, key, hash)
		s.keepAlive()
		if err == nil && !s.IsObsolete(key, f.Value[len(dst):]) {
			deadline = s.ssd.deadlineOf(&f)
			return f.Value, deadline, s.freshness(deadline)
		}
	}
	return v, deadline, state
}

// PeekRAM is Peek of RAM alone: it waits for no disk.
func (s *Store) PeekRAM(hash uint64, dst, key []byte) (v []byte, deadline int64, state State) {
	if s.shared != nil {
		return s.peekRAMShared(hash, dst, key)
	}
	return s.peekRAM(hash, dst, key)
}

// peekRAM is PeekRAM, of a copy with its trailer.
func (s *Store) peekRAM(hash uint64, dst, key []byte) (v []byte, deadline int64, state State) {
	v, deadline, ok := s.ram.PeekStale(hash, dst, key)
	s.keepAlive()
	switch {
	case !ok:
		return dst, 0, Miss
	case deadline < 0:
		return v, deadline, Negative
	case s.IsObsolete(key, v[len(dst):]):
		return dst, 0, Miss
	}
	return v, deadline, s.freshness(deadline)
}

// freshness tells a fresh value from a stale one by its deadline.
func (s *Store) freshness(deadline int64) State {
	if deadline == 0 || deadline > s.now() {
		return Fresh
	}
	return Stale
}

// Inspect is Deadline that also appends the value to dst: with an SSD tier, it reads all of
// it there.
func (s *Store) Inspect(dst, key []byte) (v []byte, deadline int64, ok bool) {
	if s.shared != nil {
		return s.inspectShared(dst, key)
	}
	hash := s.ram.Hash(key)
	for range lookupRounds {
		var state State
		if v, deadline, state = s.PeekRAM(hash, dst, key); state != Miss || s.ssd == nil {
			return v, deadline, state == Fresh
		}
		f, err := s.ssd.tier.GetStale(context.Background(), dst, key, hash)
		s.keepAlive()
		if err == nil {
			deadline = s.ssd.deadlineOf(&f)
			return f.Value, deadline, s.freshness(deadline) == Fresh
		}
		if !errors.Is(err, ssd.ErrChanged) {
			break
		}
	}
	return dst, 0, false
}

// Deadline is when the value of key expires, 0 for never. It reports false if
// there is no live value. It counts as no read.
func (s *Store) Deadline(key []byte) (deadline int64, ok bool) {
	if s.shared != nil {
		return s.deadlineShared(key)
	}
	hash := s.ram.Hash(key)
	if deadline, ok = s.ram.Deadline(hash, key); !ok && s.ssd != nil {
		deadline, ok = s.deadlineOnSSD(hash, key)
	}
	s.keepAlive()
	return deadline, ok
}
