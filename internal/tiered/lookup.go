package tiered

import (
	"context"
	"errors"
	"fmt"

	"github.com/firncache/firn/internal/ssd"
)

// lookupRounds is how often a key that is written again and again is looked for
// in both tiers before it counts as missing.
const lookupRounds = 16

// lookupSSD looks a key up that RAM does not have. A value that it finds is promoted, if
// it is still the latest by then.
func (s *Store) lookupSSD(ctx context.Context, hash uint64, dst, key []byte) ([]byte, error) {
	v, _, _, err := s.lookupSSDEntry(ctx, hash, dst, key)
	return v, err
}

// lookupSSDEntry is lookupSSD that also tells the deadline, and whether the value came
// from the SSD, and not from RAM by now.
func (s *Store) lookupSSDEntry(ctx context.Context, hash uint64, dst, key []byte) (v []byte, deadline int64, onSSD bool, err error) {
	for range lookupRounds {
		f, err := s.ssd.tier.Get(ctx, dst, key, hash)
		if err == nil {
			deadline = s.promote(hash, key, f.Value[len(dst):], &f)
			s.ram.TellLower(hash, true, len(key), len(f.Value)-len(dst), deadline)
			return f.Value, deadline, true, nil
		}
		v, deadline, ok, again := s.recheckRAM(hash, dst, key, err)
		if ok {
			return v, deadline, false, nil
		}
		if !again {
			s.ram.TellLower(hash, false, len(key), 0, 0)
			return dst, 0, false, s.lookupError(ctx, err)
		}
	}
	return dst, 0, false, ErrNotFound
}

// promote puts a value that was found on the SSD into RAM, unless the key was
// written since, or nobody wants it. It was read: a deadline that slides moves, in RAM. promote returns what
// the deadline is then.
func (s *Store) promote(hash uint64, key, value []byte, f *ssd.Found) (deadline int64) {
	if deadline = s.ssd.deadlineOf(f); s.IsObsolete(key, value) {
		return deadline
	}
	to, moves := s.ram.Slide(deadline)
	if !moves {
		s.ram.Promote(hash, key, value, deadline, f.Token)
	} else if s.ram.PromoteTouched(hash, key, value, to, f.Token) {
		return to
	}
	return deadline
}

// recheckRAM looks into RAM after the SSD tier found nothing, which err says:
// between the two looks, a write may have moved the key from there to here. With
// again, both are to be looked through once more.
func (s *Store) recheckRAM(hash uint64, dst, key []byte, err error) (v []byte, deadline int64, ok, again bool) {
	if v, deadline, ok = s.ram.Peek(hash, dst, key); ok {
		return v, deadline, true, false
	}
	return dst, 0, false, errors.Is(err, ssd.ErrChanged)
}

// lookupError is the SSD tier's error of a lookup in the user's words.
func (s *Store) lookupError(ctx context.Context, err error) error {
	switch {
	case s.ram.Closed():
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

// deadlineOnSSD is the deadline of a key that RAM does not have.
func (s *Store) deadlineOnSSD(hash uint64, key []byte) (deadline int64, ok bool) {
	for range lookupRounds {
		f, err := s.ssd.tier.Peek(context.Background(), key, hash)
		if err == nil {
			return s.ssd.deadlineOf(&f), true
		}
		if deadline, ok = s.ram.Deadline(hash, key); ok || !errors.Is(err, ssd.ErrChanged) {
			return deadline, ok
		}
	}
	return 0, false
}
