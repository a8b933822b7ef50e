package tiered

import (
	"context"

	"github.com/firncache/firn/internal/ram"
)

// Touch gives the live value of key another deadline, 0 for never. It reports false if
// there is none. For the hook it is a write: what a cache above the store knows of the
// deadline ends. A value that only the SSD has is read, and comes to RAM for its new
// deadline. The errors are those of Lookup and of Set.
func (s *Store) Touch(ctx context.Context, key []byte, deadline int64) (ok bool, err error) {
	if s.shared != nil {
		return s.touchShared(ctx, key, deadline)
	}
	w := change{op: touch, hash: s.ram.Hash(key), key: key, deadline: deadline}
	if err = s.write(&w); err == ErrNotFound && s.ssd != nil {
		err = s.touchOnSSD(ctx, &w)
	}
	if err == ErrNotFound {
		return false, nil
	}
	return err == nil, err
}

// touchRAM is the second step of the write protocol for a Touch.
func (s *Store) touchRAM(w *change) error {
	switch ok, err := s.ram.Touch(w.hash, w.key, w.deadline); {
	case err == ram.ErrTooLarge: // which it has become since the budget was lowered
		return ErrTooLarge
	case err != nil || ok:
		return err
	}
	return ErrNotFound
}

// touchOnSSD touches a value that RAM does not have, until nobody has written the key
// meanwhile.
func (s *Store) touchOnSSD(ctx context.Context, w *change) error {
	var a Attempt
	err := ErrChanged
	for err == ErrChanged {
		err = s.tryTouchOnSSD(ctx, &a, w)
	}
	return err
}

// tryTouchOnSSD is one try. The read promotes the value, with its copy on the SSD; if RAM
// has no room for that, it is set anew.
func (s *Store) tryTouchOnSSD(ctx context.Context, a *Attempt, w *change) error {
	s.Begin(a, w.key)
	defer s.End(a)
	value, _, ok, err := s.lookBelow(ctx, a, nil, s.promote)
	switch {
	case err != nil:
		return err
	case !ok:
		return ErrNotFound
	}
	if err = s.write(w); err != ErrNotFound {
		return err
	}
	return s.Replace(a, value, w.deadline)
}
