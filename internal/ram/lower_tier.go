package ram

import (
	"github.com/firncache/firn/internal/record"
	"time"
)

// LowerTier is the lower tier, as this one sees it. Its methods, other than
// WaitForRoom, are called with a shard's lock held: they must not block on a disk
// and must not call the tier. They are called from many goroutines at once, for one
// hash by one at a time.
type LowerTier interface {
	// Prefetch is a hint that another call with this hash will follow soon. It is
	// called with a lock held or without.
	Prefetch(hash uint64)

	// Invalidate invalidates the lower tier's record under a hash: it is not to be
	// found any more when the call returns. A Set or Delete of a key with this hash has
	// taken effect, whether or not the key was here. The call comes after the new record
	// can be found, or the old one no longer can, and before the lock is released. It is
	// left out if the key's record here is newer than all of the lower tier: see
	// lowerCopy. A Set that fails and an eviction invalidate nothing, nor do
	// an expiry and Clear, unless OnEvict is called for what leaves the lower tier.
	Invalidate(hash uint64)

	// Demote offers a record that leaves because its room is needed, while it can still be
	// found here. The slices are lent until it returns. read says whether the
	// record was read since its key came here, or was promoted because it was read;
	// copied, whether the lower tier's record under the hash may be a copy of it. An
	// OlderCopy is replaced if that can be done, and otherwise stays. Demote reports
	// whether the lower tier has the record now: then it counts as demoted, not as
	// evicted, and OnEvict is not called.
	Demote(hash uint64, key, value []byte, deadline int64, read bool, copied record.Copy) bool

	// WaitForRoom reports whether Demote would accept the records of about a
	// segment. If not, it first waits for that: not for long, and less if the caller
	// has waited already. It returns how long the caller has waited in all. It is
	// called with no shard's lock held and must not call the tier.
	WaitForRoom(waited time.Duration) (inAll time.Duration, ok bool)

	// IsCurrent reports whether the lower tier's record under this hash is still the one
	// that was read as token.
	IsCurrent(hash, token uint64) bool

	// Has reports whether the lower tier has a record under a hash.
	Has(hash uint64) bool
}

// LowerTierInParts is a LowerTier that takes long records in parts.
type LowerTierInParts interface {
	LowerTier

	// MaxWhole is the most bytes of key and value that Demote takes. It does not change.
	MaxWhole() int

	// DemoteParts is Demote for a longer record. If the lower tier wants it, d takes its
	// parts; d is nil otherwise. there says that the lower tier has it already.
	DemoteParts(hash uint64, keyLen, valueLen int, deadline int64, read bool, copied record.Copy) (d Transfer, there bool)
}

// Transfer takes a record's parts. But for Wait, its methods are called as Demote is,
// with the shard's lock held, which is released between them: the lower tier's record
// under the hash may change meanwhile.
type Transfer interface {
	// Whole says that the record is to be put as a whole, by PutAll, and not in
	// parts: it had to wait for room.
	Whole() bool
	PutAll(key, value []byte) (ok, again bool)

	// NextPart is which part of the value is to be put next; n is 0 when all were.
	NextPart() (from, n int)

	// PutPart takes that part, and Commit the record once all were put: from then on
	// the lower tier has it. A call that is not ok ends in Abort, unless again says
	// that it may be repeated when there is room.
	PutPart(part []byte) (ok, again bool)
	Commit(key []byte) (ok, again bool)

	// Wait is WaitForRoom for the next call. It is called with no lock held. patient says
	// that the caller would rather wait for long than abandon the record.
	Wait(waited time.Duration, patient bool) (inAll time.Duration, ok bool)

	// Abort ends it without the record. late says that Wait was in vain.
	Abort(late bool)
}
