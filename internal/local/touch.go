package local

import (
	"context"
)

// Touch gives the live value of key another deadline, 0 for never. It reports false if
// there is none. For the hook it is a write: what a cache above the store knows of the
// deadline ends. A value that only the SSD has is read, and comes to RAM for its new
// deadline. The errors are those of Lookup and of Set.
func (s *Store) Touch(ctx context.Context, key []byte, deadline int64) (ok bool, err error) {
	w := Change{Op: OpTouch, Hash: s.RAM.Hash(key), Key: key, Deadline: deadline}
	if err = s.Write(&w); err == ErrNotFound && s.ssd != nil {
		err = s.touchOnSSD(ctx, &w)
	}
	if err == ErrNotFound {
		return false, nil
	}
	return err == nil, err
}

// touchOnSSD touches a value that RAM does not have, until the key was not written
// meanwhile.
func (s *Store) touchOnSSD(ctx context.Context, w *Change) error {
	var a Attempt
	err := ErrChanged
	for err == ErrChanged {
		err = s.tryTouchOnSSD(ctx, &a, w)
	}
	return err
}

// tryTouchOnSSD is one try. The read promotes the value, with its copy on the SSD; if RAM
// has no room for that, it is set again.
func (s *Store) tryTouchOnSSD(ctx context.Context, a *Attempt, w *Change) error {
	s.Begin(a, w.Key)
	defer s.End(a)
	value, _, ok, err := s.lookBelow(ctx, a, nil, s.promote)
	switch {
	case err != nil:
		return err
	case !ok:
		return ErrNotFound
	}
	if err = s.Write(w); err != ErrNotFound {
		return err
	}
	return s.Replace(a, value, w.Deadline)
}
