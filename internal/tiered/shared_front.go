package tiered

import (
	"context"

	"github.com/firncache/firn/internal/shared"
)

// Kept is what a cache above the store has to know of a value that it keeps.
type Kept struct {
	Deadline int64
	At       Place
	// Stamp is that of a trusted copy, with a shared tier: the value is an answer for as long as
	// that is trusted and the key was not written. 0: the value must not be kept.
	Stamp shared.Stamp
	// Shortened says that the deadline is an earlier one than the entry's.
	Shortened bool
}

// LookupToKeep is LookupEntry for a cache above the store; with local, of trusted copies in the
// local tiers alone.
func (s *Store) LookupToKeep(ctx context.Context, dst, key []byte, local bool) (value []byte, k Kept, err error) {
	if s.shared == nil {
		value, k.Deadline, k.At, err = s.LookupEntry(ctx, dst, key)
		return value, k, err
	}
	var a answer
	if local {
		if s.SkipsLocal(ctx) {
			return dst, k, ErrNotFound
		}
		if a.sharedCopy, err = s.copyOf(ctx, s.ram.Hash(key), dst, key); err == nil && !a.trusted {
			err = ErrNotFound
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
		k.Stamp, _ = s.shared.trust.TrustedAs(s.ram.Hash(key), a.version, a.stamp)
	}
	return value, k, nil
}

// TrustMark is taken before something that is kept is looked for, and TrustedSince asked when it
// was found: it is an answer if its stamp is trusted, and was while it was looked for. There is
// a shared tier.
func (s *Store) TrustMark() uint64 { return s.shared.trust.Mark() }

// TrustedSince reports whether what has this stamp is an answer: see TrustMark.
func (s *Store) TrustedSince(mark uint64, stamp shared.Stamp) bool {
	return s.shared.trust.Holds(stamp) && !s.shared.trust.Since(mark)
}
