package ram

import "time"

// Below is the tier underneath, as this one sees it. Its methods, but for Ready,
// are called with a shard's lock held: they must not block on a disk and must not
// call the tier. They are called from many goroutines at once, for one hash by
// one at a time.
type Below interface {
	// Prefetch is a hint that another call with this hash will follow soon. It is
	// called with a lock held or without.
	Prefetch(hash uint64)

	// Superseded tells that a Set or Delete of a key with this hash has taken
	// effect, whether or not the key was here, but for a key whose record here came
	// after all that lies below: see lowerCopy. Whatever lies below under the hash is
	// not to be found any more when it returns. It is called after the new record can
	// be found, or the old one no longer can, and before the lock is released. A Set
	// that fails, an eviction, an expiry and Clear supersede nothing.
	Superseded(hash uint64)

	// Demote offers a record that leaves for want of room, while it can still be
	// found here. The slices are lent until it returns. read tells whether the
	// record was read since its key came here, or came by being read below; copied,
	// whether what lies below under the hash may be a copy of it. Demote
	// reports whether the record lives on below: then it counts as demoted, not as
	// evicted, and Evicted is not told.
	Demote(hash uint64, key, value []byte, deadline int64, read, copied bool) bool

	// Ready reports whether Demote would take the records of about a segment that
	// are to leave. If not, it first waits for that: not for long, and less if the
	// caller has waited already. It returns how long that is by then. It is called
	// with no shard's lock held and must not call the tier.
	Ready(waited time.Duration) (inAll time.Duration, ok bool)

	// Holds reports whether there is still below, under this hash, what was read
	// there as token.
	Holds(hash, token uint64) bool
}

// BelowInParts is what a Below has, besides, that takes long records.
type BelowInParts interface {
	Below

	// AtOnce is how many bytes of key and value are to come by Demote. It does not
	// change.
	AtOnce() int

	// DemoteParts is Demote for a longer record. If it is to come below, its parts
	// are put into d, which is nil otherwise. there says that it is below already.
	DemoteParts(hash uint64, keyLen, valueLen int, deadline int64, read, copied bool) (d Descent, there bool)
}

// Descent takes a record's parts. But for Await, its methods are called as Demote is,
// with the shard's lock held, which is released between them: what lies below under
// the hash may change meanwhile.
type Descent interface {
	// Whole says that the record is to be put as a whole, by PutWhole, and not in
	// parts: it had to wait for room.
	Whole() bool
	PutWhole(key, value []byte) (ok, again bool)

	// Piece is which part of the value is to be put next; n is 0 when all were.
	Piece() (from, n int)

	// Put takes that part, and End the record once all were put: from then on it
	// lives below. What is not ok ends in Abandon, unless it may be tried again when
	// there is room.
	Put(piece []byte) (ok, again bool)
	End(key []byte) (ok, again bool)

	// Await is Ready for what comes next. It is called with no lock held. patient
	// says that whoever waits would rather wait for long than leave it.
	Await(waited time.Duration, patient bool) (inAll time.Duration, ok bool)

	// Abandon ends it: the record does not come. late says that Await was in vain.
	Abandon(late bool)
}
