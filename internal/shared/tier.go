package shared

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/firncache/firn/internal/enumtext"
)

// The errors of a Tier, beside those of contexts.
var (
	ErrNotFound    = errors.New("shared: not found")
	ErrChanged     = errors.New("shared: changed since") // the entry is not the expected one
	ErrUnavailable = errors.New("firn: the shared tier is unavailable")
	ErrTooLarge    = errors.New("shared: too large")
	ErrLeased      = errors.New("shared: another process loads it")
)

// Version names one write of a key. 0 is that of no entry.
type Version uint64

// Expect is what a write wants to find: it fails with ErrChanged if there is something else.
type Expect struct {
	Version Version // the entry of this version: a value's, a lease's; 0: no entry
	Any     bool    // whatever there is
	Leased  Version // of the lease that Lease has got and Release gives up, which need not be the entry; 0: none
}

// Anything is expected by a write that replaces whatever there is.
var Anything = Expect{Any: true}

// Found is what the shared tier has of a key.
type Found struct {
	Value    []byte  // appended to dst; with Unchanged, and without a value, dst
	Version  Version // with ErrNotFound, of a lease or a tombstone; 0 if there is nothing
	Stamp    Stamp   // of the epoch from before the request; 0: it must not be kept as a copy
	Deadline int64   // in the store's time, 0 for never; below 0 a negative entry's
	// Unchanged says that the version is the one that the caller has: no value was sent.
	Unchanged bool
}

// Written is what a write has made.
type Written struct {
	Version Version // of the new entry
	Stamp   Stamp   // as in Found
}

// Entry is a value to write.
type Entry struct {
	Key, Value []byte
	Deadline   int64 // in the store's time, 0 for never; below 0 a negative entry's, without a value
}

// Query is a key to read.
type Query struct {
	Key  []byte
	Have Version // of the copy that the caller has: its value need not be sent; 0 without
}

// Tier is a tier that several processes share, below the local ones. Its calls may wait for a
// network, until the context ends or the tier's own timeout, and are called with no lock held.
// Errors are ErrNotFound, ErrChanged, ErrTooLarge, the context's, or wrap ErrUnavailable:
// after the last two of a write it is unknown whether it has been done, or will be. It keeps no
// slice that it is given.
//
// The rule of copies: the store watches a key, then reads it here, then stores the copy if the
// key was not written or invalidated since. So an answer may be late; its stamp may not:
// it is of the epoch from before the request was sent.
type Tier interface {
	// Open begins the tier's work, once, before any other call. It does not fail because a
	// server is not there, only because one says that it cannot serve.
	Open(local Local) (*Trust, error)
	// Close ends it. Calls that wait return.
	Close(ctx context.Context) error

	Read(ctx context.Context, dst []byte, q Query) (Found, error)
	// ReadMulti reads many keys; each is called for every one, from the caller's goroutine, and
	// may keep Value, which is its own.
	ReadMulti(ctx context.Context, queries []Query, each func(i int, f Found, err error))

	Write(ctx context.Context, e Entry, expect Expect) (Written, error)
	WriteMulti(ctx context.Context, entries []Entry, each func(i int, w Written, err error))
	// Remove removes an entry; that there was none is no error.
	Remove(ctx context.Context, key []byte, expect Expect) error
	RemoveMulti(ctx context.Context, keys [][]byte, each func(i int, err error))
	// Touch gives an entry another deadline, under another version.
	Touch(ctx context.Context, key []byte, deadline int64) (Written, error)
	// Clear removes every entry that is there.
	Clear(ctx context.Context) error

	// Lease is called before a key is loaded. It returns what the write of the loaded value is to
	// expect: a lease, where there was nothing. Or it returns the value that is there, whose
	// version is to be expected if the key is loaded all the same. With q.Have, the caller
	// loads the value of that version again: it gets a lease though that is there, and what
	// is there only if it is another. So does one that finds a value past its deadline,
	// which is kept for its grace: it gets both.
	//
	// It waits for no load. While another process has leased the key it returns ErrLeased, and
	// to expect that lease, or the value that is being loaded again: a caller that loads nevertheless
	// stores with this expectation, which holds only if the key was not changed.
	Lease(ctx context.Context, dst []byte, q Query) (Expect, *Found, error)
	// Await waits until the entry that was to be expected with ErrLeased is there no more:
	// another process has stored its value, has given up, or its lease is over; the caller calls
	// Lease again. ErrLeased says that it has waited for long enough.
	Await(ctx context.Context, key []byte, leased Expect) error
	// Release gives up what Lease has got, for a load that has failed. It does not wait.
	Release(key []byte, leased Expect)

	// Number is the number of an id, not 0; one without gets one. With renew, it gets another.
	// Before it returns, Local got each change that an earlier answer has shown; and before
	// a write of a tier with one slot returns, each that some process knew when the write
	// began.
	Number(ctx context.Context, id ID, renew bool) (NumberState, Stamp, error)
	// ExpireNumber gives an id another number, too, and remembers the one before as expired since
	// now, in the store's time. One that changes meanwhile need not be remembered.
	ExpireNumber(ctx context.Context, id ID, now int64) (NumberState, Stamp, error)

	Policy() Policy
	// Stats adds the tier's own figures to a snapshot.
	Stats(s *Stats)
}

// ID names a number.
type ID [16]byte

// Local is the local tiers as the shared tier sees them. Its calls do not wait, call no
// function of the user's, and may be made from the goroutine that reads from the network.
type Local interface {
	// Invalidate says that a key was changed elsewhere: when it returns, no copy is found
	// any more, and no read from before stores one.
	Invalidate(key []byte)
	// InvalidateNumber says so of a number.
	InvalidateNumber(id ID)
	// EpochChanged says that copies have become suspect, after Trust says so.
	EpochChanged()
	// Now is the store's time in milliseconds.
	Now() int64
	// Grace is how long entries are kept after their deadline, in milliseconds: they may be an
	// answer while the source is slow or down. It may grow.
	Grace() int64
	// UsedNumbers are ids of numbers that were an answer since the last call, so many at most.
	UsedNumbers(most int) []ID
	// ReadKeys are the keys of some reads since the last call that RAM answered.
	ReadKeys() [][]byte
	// Seals is how many notes of checks there is to be room for, a power of two: see NewTrust.
	Seals() int
}

// UnixOffset is by how much Unix time is ahead of a store's time, in milliseconds, and even.
func UnixOffset(unix func() time.Time, now func() int64) int64 {
	var at time.Time
	ms := now()
	for range 8 { // until both are read within one millisecond
		at = unix()
		before := ms
		if ms = now(); ms == before {
			break
		}
	}
	const even, half = int64(2 * time.Millisecond), int64(time.Millisecond / 2)
	return (at.UnixNano() - ms*int64(time.Millisecond) + half) / even * 2
}

// Policy is how a store uses a tier.
type Policy struct {
	Fingerprint string        // of what is written: copies on the SSD of another are not found
	CopyTTL     time.Duration // how long a copy lives at most; 0: as long as the entry
	Bound       time.Duration // how long what was loaded is kept while the tier is away; 0: not at all
	Degraded    Degraded
	SoftTimeout time.Duration // for a check, if the suspect copy may be the answer; 0: none
	Log         *slog.Logger
}

// Degraded is what a read does with a suspect copy that cannot be checked.
type Degraded uint8

// The ways.
const (
	DegradedMiss  Degraded = iota // it is missing
	DegradedStale                 // it is the answer
	DegradedError                 // the read fails with ErrUnavailable
)

// String is the way's name: miss, stale or error.
func (d Degraded) String() string { return enumtext.Name(d, "miss", "stale", "error") }

// MarshalText is the way's name.
func (d Degraded) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText takes "miss", "stale" or "error".
func (d *Degraded) UnmarshalText(text []byte) error { return enumtext.Parse(d, DegradedError, text) }
