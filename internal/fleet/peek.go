package fleet

import (
	"context"
	"errors"

	"github.com/firncache/firn/internal/local"
	"github.com/firncache/firn/internal/shared"
)

// peeked is the result of Peek for a copy: a miss for a suspect one.
func peeked(c *localCopy, n int) (v []byte, deadline int64, state local.State) {
	if c.answers() {
		return c.value, c.deadline, c.state
	}
	return c.value[:n], 0, local.Miss
}

// PeekStale is Peek for a caller whose load has failed or is late: a suspect copy, which the
// load could not check, is returned if Policy.Degraded has it be an answer.
func (s *Fleet) PeekStale(ctx context.Context, hash uint64, dst, key []byte) (v []byte, deadline int64, state local.State) {
	c, call := s.peekCopy(ctx, hash, dst, key, (*local.Store).PeekTiers), callOf(ctx)
	if (c.state == local.Fresh || c.state == local.Stale) && s.shared.degraded(&call) == shared.DegradedStale {
		return c.value, c.deadline, c.state
	}
	return peeked(&c, len(dst))
}

// PeekTiers is Peek of the copies in RAM and on the SSD.
func (s *Fleet) PeekTiers(ctx context.Context, hash uint64, dst, key []byte) (v []byte, deadline int64, state local.State) {
	c := s.peekCopy(ctx, hash, dst, key, (*local.Store).PeekTiers)
	return peeked(&c, len(dst))
}

// PeekRAM is PeekTiers of RAM alone.
func (s *Fleet) PeekRAM(hash uint64, dst, key []byte) (v []byte, deadline int64, state local.State) {
	c := s.peekCopy(context.Background(), hash, dst, key, peekUpper)
	return peeked(&c, len(dst))
}

// Inspect reads the shared tier unless a trusted copy has the value and the entry's own deadline.
func (s *Fleet) Inspect(dst, key []byte) (v []byte, deadline int64, ok bool) {
	ctx, hash := context.Background(), s.local.RAM.Hash(key)
	have := s.peekCopy(ctx, hash, dst, key, (*local.Store).PeekTiers)
	if have.answers() && !have.shortened() {
		return have.value, have.deadline, have.state == local.Fresh
	}
	var call shared.Call
	a, err := s.fetch(ctx, hash, len(dst), key, &have, &call)
	switch {
	case errors.Is(err, shared.ErrNotFound):
		return dst, 0, false
	case err != nil && have.answers(): // all that is known of the deadline
		return have.value, have.deadline, have.state == local.Fresh
	case err != nil:
		a, err = s.degradedAnswer(ctx, &have, &call, len(dst), err)
	}
	v, err = a.found(dst, err)
	return v, a.deadline, err == nil
}

// Deadline is Deadline with a shared tier: the copy is read, for its trailer.
func (s *Fleet) Deadline(key []byte) (deadline int64, ok bool) {
	b := local.GetScratch()
	defer local.PutScratch(b)
	b.Bytes, deadline, ok = s.Inspect(b.Bytes[:0], key)
	return deadline, ok
}

// Kept is what a cache above the store has to know of a value that it keeps.
type Kept struct {
	Deadline int64
	At       local.Place
	// Stamp is that of a trusted copy, with a shared tier: the value is an answer for as long as
	// that is trusted and the key was not written. 0: the value must not be kept.
	Stamp shared.Stamp
	// Shortened says that the deadline is an earlier one than the entry's.
	Shortened bool
}

// LookupToKeep is LookupEntry for a cache above the store; with here, of trusted copies in the
// local tiers alone.
func (s *Fleet) LookupToKeep(ctx context.Context, dst, key []byte, here bool) (value []byte, k Kept, err error) {
	var a answer
	if here {
		if s.SkipsLocal(ctx) {
			return dst, k, local.ErrNotFound
		}
		if a.localCopy, err = s.copyOf(ctx, s.local.RAM.Hash(key), dst, key); err == nil && !a.trusted {
			err = local.ErrNotFound
		}
		a.known = !a.shortened()
	} else {
		a, err = s.lookupTiers(ctx, dst, key)
	}
	if value, err = a.found(dst, err); err != nil {
		return value, k, err
	}
	k = Kept{Deadline: a.deadline, At: a.at, Shortened: !a.known}
	if a.trusted {
		k.Stamp, _ = s.shared.trust.TrustedAs(s.local.RAM.Hash(key), a.version, a.stamp)
	}
	return value, k, nil
}

// TrustMark is taken before a search of the values that are kept, and given to TrustedSince when
// one was found: that is an answer if its stamp is trusted, and was during the search.
func (s *Fleet) TrustMark() uint64 { return s.shared.trust.Mark() }

// TrustedSince reports whether what has this stamp is an answer: see TrustMark.
func (s *Fleet) TrustedSince(mark uint64, stamp shared.Stamp) bool {
	return s.shared.trust.Holds(stamp) && !s.shared.trust.Since(mark)
}
