package local

import (
	"context"
)

// FinishGet is the rest of a Get after RAM.TryGet returned n.
//
//go:noinline
func (s *Store) FinishGet(n int, dst, key []byte) ([]byte, bool) {
	v, err := s.FinishLookup(n, context.Background(), dst, key)
	return v, err == nil
}

// Lookup is Get with a context and with errors: those of the SSD tier, of the
// context, ErrNotFound and ErrClosed. With one it returns dst as it was.
func (s *Store) Lookup(ctx context.Context, dst, key []byte) ([]byte, error) {
	n := s.RAM.TryGet(dst, key)
	if n < 0 {
		return s.FinishLookup(n, ctx, dst, key)
	}
	s.KeepAlive()
	return dst[:len(dst)+n], nil
}

// FinishLookup is the rest of Lookup after TryGet returned n.
func (s *Store) FinishLookup(n int, ctx context.Context, dst, key []byte) ([]byte, error) {
	v, ok := s.RAM.FinishGet(n, dst, key)
	var err error
	switch {
	case ok:
	case s.ssd == nil:
		err = s.MissError(ctx)
	default:
		v, _, _, err = s.lookupSSD(ctx, s.RAM.Hash(key), dst, key)
	}
	s.KeepAlive()
	return v, err
}

// LookupDeadline is Lookup that also returns the deadline, if that is known: of a copy that
// does not live as long as its entry it is not.
func (s *Store) LookupDeadline(ctx context.Context, dst, key []byte) (value []byte, deadline int64, known bool, err error) {
	value, deadline, _, err = s.LookupEntry(ctx, dst, key)
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

// LookupEntry is Lookup that also returns the deadline, 0 for never, and where the value was
// found. A deadline that slides has moved.
func (s *Store) LookupEntry(ctx context.Context, dst, key []byte) (value []byte, deadline int64, at Place, err error) {
	value, deadline, ok := s.RAM.GetWithDeadline(dst, key)
	switch {
	case ok:
	case s.ssd == nil:
		err = s.MissError(ctx)
	default:
		var onSSD bool
		if value, deadline, onSSD, err = s.lookupSSD(ctx, s.RAM.Hash(key), dst, key); onSSD {
			at = OnSSD
		}
	}
	s.KeepAlive()
	return value, deadline, at, err
}

// SlideTo moves the deadline of a value that was found with it, if RAM has that still, and
// returns what it is then. It counts neither as a read nor as a write.
func (s *Store) SlideTo(key []byte, deadline, to int64) int64 {
	deadline = s.RAM.SlideTo(s.RAM.Hash(key), key, deadline, to)
	s.KeepAlive()
	return deadline
}

// MissError is why nothing was found in RAM alone.
func (s *Store) MissError(ctx context.Context) error {
	closed := s.RAM.Closed()
	s.KeepAlive()
	if closed {
		return ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return ErrNotFound
}

// State is the state of a key in a store.
type State uint8

// The states.
const (
	Miss     State = iota // nothing
	Fresh                 // a value
	Stale                 // a value past its deadline, within its grace
	Negative              // that there is no value: see OpSetIf
)

// Peek appends to dst the value that the store has of a key with this hash, also if Get
// does not return it, but none that is obsolete. It counts as no read. A fresh value is looked for in RAM alone: a caller
// who loads has looked below already.
func (s *Store) Peek(ctx context.Context, hash uint64, dst, key []byte) (v []byte, deadline int64, state State) {
	if s.grace.Load() == 0 {
		return s.PeekRAM(hash, dst, key)
	}
	return s.PeekTiers(ctx, hash, dst, key)
}

// PeekTiers is Peek that looks for a fresh value on the SSD, too.
func (s *Store) PeekTiers(ctx context.Context, hash uint64, dst, key []byte) (v []byte, deadline int64, state State) {
	v, deadline, state = s.PeekAny(ctx, hash, dst, key)
	return s.wanted(dst, key, v, deadline, state)
}

// PeekAny is PeekTiers that also finds what is obsolete.
func (s *Store) PeekAny(ctx context.Context, hash uint64, dst, key []byte) (v []byte, deadline int64, state State) {
	v, deadline, err := s.findStale(ctx, hash, dst, key)
	if err != nil {
		return dst, 0, Miss
	}
	return v, deadline, s.StateOf(deadline)
}

// wanted is what was found, unless it is obsolete. What is stale before its deadline has the earlier
// moment for one.
func (s *Store) wanted(dst, key, found []byte, deadline int64, state State) ([]byte, int64, State) {
	value := found[len(dst):]
	switch state {
	case Miss:
	case Negative:
		if s.IsNegativeObsolete(value) {
			return dst, 0, Miss
		}
	default:
		obsolete, since := s.judge(key, value)
		if obsolete || s.RAM.Closed() { // then the judge may know no tag any more
			return dst, 0, Miss
		}
		if since != 0 && (deadline == 0 || since < deadline) {
			return found, min(since, s.now()), Stale
		}
	}
	return found, deadline, state
}

// Judge is Peek of a value that was found elsewhere.
func (s *Store) Judge(key, value []byte, deadline int64, state State) (v []byte, until int64, now State) {
	return s.wanted(nil, key, value, deadline, state)
}

// PeekRAM is Peek of RAM alone: it waits for no disk.
func (s *Store) PeekRAM(hash uint64, dst, key []byte) (v []byte, deadline int64, state State) {
	v, deadline, ok := s.RAM.PeekStale(hash, dst, key)
	s.KeepAlive()
	if !ok {
		return dst, 0, Miss
	}
	return s.wanted(dst, key, v, deadline, s.StateOf(deadline))
}

// StateOf is the state of a record with this deadline.
func (s *Store) StateOf(deadline int64) State {
	switch {
	case deadline < 0:
		return Negative
	case deadline == 0 || deadline > s.now():
		return Fresh
	}
	return Stale
}

// Inspect is Deadline that also appends the value to dst: with an SSD tier, it reads all of
// it there.
func (s *Store) Inspect(dst, key []byte) (v []byte, deadline int64, ok bool) {
	v, deadline, state := s.PeekAny(context.Background(), s.RAM.Hash(key), dst, key)
	return v, deadline, state == Fresh
}

// Deadline is when the value of key expires, 0 for never. It reports false if
// there is no live value. It counts as no read.
func (s *Store) Deadline(key []byte) (deadline int64, ok bool) {
	hash := s.RAM.Hash(key)
	if deadline, ok = s.RAM.Deadline(hash, key); !ok && s.ssd != nil {
		deadline, ok = s.deadlineOnSSD(hash, key)
	}
	s.KeepAlive()
	return deadline, ok
}
