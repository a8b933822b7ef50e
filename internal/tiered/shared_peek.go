package tiered

import (
	"context"
	"errors"

	"github.com/firncache/firn/internal/shared"
)

// peeked is what Peek tells of a copy: nothing of a suspect one.
func peeked(c *sharedCopy, n int) (v []byte, deadline int64, state State) {
	if c.answers() {
		return c.value, c.deadline, c.state
	}
	return c.value[:n], 0, Miss
}

// PeekStale is Peek for a caller whose load has failed or is late: a suspect copy, which the
// load could not check, is told if Policy.Degraded has it be an answer.
func (s *Store) PeekStale(ctx context.Context, hash uint64, dst, key []byte) (v []byte, deadline int64, state State) {
	if s.shared == nil {
		return s.Peek(ctx, hash, dst, key)
	}
	c, call := s.peekCopy(ctx, hash, dst, key, (*Store).peekLocal), callOf(ctx)
	if (c.state == Fresh || c.state == Stale) && s.shared.degraded(&call) == shared.DegradedStale {
		return c.value, c.deadline, c.state
	}
	return peeked(&c, len(dst))
}

func (s *Store) peekTiersShared(ctx context.Context, hash uint64, dst, key []byte) (v []byte, deadline int64, state State) {
	c := s.peekCopy(ctx, hash, dst, key, (*Store).peekLocal)
	return peeked(&c, len(dst))
}

func (s *Store) peekRAMShared(hash uint64, dst, key []byte) (v []byte, deadline int64, state State) {
	c := s.peekCopy(context.Background(), hash, dst, key, (*Store).peekUpper)
	return peeked(&c, len(dst))
}

// inspectShared is Inspect with a shared tier, which is asked for what no trusted copy tells.
func (s *Store) inspectShared(dst, key []byte) (v []byte, deadline int64, ok bool) {
	ctx, hash := context.Background(), s.ram.Hash(key)
	have := s.peekCopy(ctx, hash, dst, key, (*Store).peekLocal)
	if have.answers() && !have.shortened() {
		return have.value, have.deadline, have.state == Fresh
	}
	var call shared.Call
	a, err := s.ask(ctx, hash, len(dst), key, &have, &call)
	switch {
	case errors.Is(err, shared.ErrNotFound):
		return dst, 0, false
	case err != nil && have.answers(): // all that is known of the deadline
		return have.value, have.deadline, have.state == Fresh
	case err != nil:
		a, err = s.unanswered(ctx, &have, &call, len(dst), err)
	}
	v, err = a.found(dst, err)
	return v, a.deadline, err == nil
}

// deadlineShared is Deadline with a shared tier: the copy is read, for its trailer.
func (s *Store) deadlineShared(key []byte) (deadline int64, ok bool) {
	b := getScratch()
	defer b.put()
	b.bytes, deadline, ok = s.inspectShared(b.bytes[:0], key)
	return deadline, ok
}
