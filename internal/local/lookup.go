package local

import (
	"context"
	"errors"
	"fmt"

	"github.com/firncache/firn/internal/ram"
	"github.com/firncache/firn/internal/ssd"
)

// lookupRounds is how often a key that is written again and again is looked for
// in both tiers before it counts as missing.
const lookupRounds = 16

// ssdLook and ramLook look for a key in one tier, and append its value to dst.
type (
	ssdLook func(t *ssd.Tier, ctx context.Context, dst, key []byte, hash uint64) (ssd.Found, error)
	ramLook func(t *ram.Tier, hash uint64, dst, key []byte) (value []byte, deadline int64, ok bool)
)

// findBelow looks for a key that RAM does not have: on the SSD, and then in RAM once more,
// for a write may have moved the key up between the two looks; if the key was written
// meanwhile, in both again. onSSD says that the SSD has what was found, under f's token.
// The errors are those of the SSD tier.
func (s *Store) findBelow(ctx context.Context, hash uint64, dst, key []byte, below ssdLook, above ramLook) (f ssd.Found, onSSD bool, err error) {
	for range lookupRounds {
		if f, err = below(s.ssd.tier, ctx, dst, key, hash); err == nil {
			return f, true, nil
		}
		if v, deadline, ok := above(s.RAM, hash, dst, key); ok {
			return ssd.Found{Value: v, Deadline: deadline}, false, nil
		}
		if !errors.Is(err, ssd.ErrChanged) {
			return f, false, err
		}
	}
	return f, false, ssd.ErrNotFound
}

// lookupSSD looks a key up that RAM does not have. A value that it finds is promoted, if
// it is still the latest by then. onSSD says that it came from the SSD, and not from RAM by
// now.
func (s *Store) lookupSSD(ctx context.Context, hash uint64, dst, key []byte) (v []byte, deadline int64, onSSD bool, err error) {
	f, onSSD, err := s.findBelow(ctx, hash, dst, key, (*ssd.Tier).Get, (*ram.Tier).Peek)
	switch {
	case err != nil:
		s.RAM.ObserveLower(hash, false, len(key), 0, 0)
		return dst, 0, false, s.lookupError(ctx, err)
	case onSSD:
		f.Deadline = s.answer(hash, key, f.Value[len(dst):], &f)
	}
	return f.Value, f.Deadline, onSSD, nil
}

// answer makes a value that was found on the SSD the answer of a read, and returns its
// deadline. It is promoted; RAM has counted a miss.
func (s *Store) answer(hash uint64, key, value []byte, f *ssd.Found) (deadline int64) {
	deadline = s.promote(hash, key, value, f)
	s.ssd.tier.CountHit()
	s.RAM.ObserveLower(hash, true, len(key), len(value), deadline)
	return deadline
}

// promote puts a value that was found on the SSD into RAM, unless the key was
// written since, or it is of no use to reads. It was read: a deadline that slides moves, in RAM. promote returns what
// the deadline is then.
func (s *Store) promote(hash uint64, key, value []byte, f *ssd.Found) (deadline int64) {
	if deadline = f.Deadline; s.IsOutdated(key, value) {
		return deadline
	}
	to, moves := s.RAM.Slide(deadline)
	if !moves {
		s.RAM.Promote(hash, key, value, deadline, f.Token)
	} else if s.RAM.PromoteTouched(hash, key, value, to, f.Token) {
		return to
	}
	return deadline
}

// lookupError is the SSD tier's error of a lookup in the user's words.
func (s *Store) lookupError(ctx context.Context, err error) error {
	switch {
	case s.RAM.Closed():
		return ErrClosed
	case errors.Is(err, ssd.ErrNotFound):
		return ErrNotFound
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, ssd.ErrTimeout):
		return s.ssd.timeout
	case errors.Is(err, ssd.ErrBusy):
		return ErrSSDBusy
	}
	return fmt.Errorf("firn: read from the SSD tier: %w", err)
}

// findStale appends to dst what the local tiers hold of a key: fresh, stale, obsolete or
// negative. It counts as no read. The errors are those of Lookup.
func (s *Store) findStale(ctx context.Context, hash uint64, dst, key []byte) (v []byte, deadline int64, err error) {
	v, deadline, ok := s.RAM.PeekStale(hash, dst, key)
	switch {
	case ok:
	case s.ssd == nil:
		err = s.MissError(ctx)
	default:
		var f ssd.Found
		if f, _, err = s.findBelow(ctx, hash, dst, key, (*ssd.Tier).GetStale, (*ram.Tier).PeekStale); err != nil {
			return dst, 0, s.lookupError(ctx, err)
		}
		v, deadline = f.Value, f.Deadline
	}
	s.KeepAlive()
	return v, deadline, err
}

// deadlineOnSSD is the deadline of a key that RAM does not have.
func (s *Store) deadlineOnSSD(hash uint64, key []byte) (deadline int64, ok bool) {
	f, _, err := s.findBelow(context.Background(), hash, nil, key, (*ssd.Tier).Peek, func(t *ram.Tier, hash uint64, dst, key []byte) ([]byte, int64, bool) {
		deadline, ok := t.Deadline(hash, key)
		return dst, deadline, ok
	})
	return f.Deadline, err == nil
}
