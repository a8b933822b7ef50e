package firn

import (
	"errors"
	"fmt"

	"github.com/firncache/firn/internal/load"
	"github.com/firncache/firn/internal/tiered"
)

// Errors a caller may test for with errors.Is. Some are wrapped in a message
// that says what was expected and what was found.
var (
	// ErrNotFound says that the cache holds no live value for the key.
	ErrNotFound = tiered.ErrNotFound
	// ErrClosed says that the cache was closed before the call, or during it.
	ErrClosed = tiered.ErrClosed
	// ErrTooLarge says that a key and its value are longer together than the
	// cache stores: a quarter of the RAM budget, and less near the least one
	// that SetRAMBytes takes.
	ErrTooLarge = tiered.ErrTooLarge
	// ErrNoRoom says that a value was not stored because nothing more can be
	// evicted now: the rest of the budget is bookkeeping, and no other write is
	// about to give room back. It is to be expected near the least budget alone.
	ErrNoRoom = tiered.ErrNoRoom
	// ErrLocked says that the directory of the SSD tier is in use, by this
	// process or another.
	ErrLocked = tiered.ErrLocked
	// ErrSSDTimeout says that the SSD tier may have a value, and that its device did
	// not give it within SSDOptions.ReadTimeout.
	ErrSSDTimeout = tiered.ErrSSDTimeout
	// ErrSSDBusy says that the SSD tier may have a value, and that its device was not
	// asked: too many wait for it already, or it answers nobody. See
	// SSDOptions.ReadTimeout.
	ErrSSDBusy = tiered.ErrSSDBusy
	// ErrSharedUnavailable says that the shared tier did not answer in time, could not be
	// reached, or refused. Lookup and its like return it with remote.DegradedError, where no
	// local copy may be the answer; otherwise that is ErrNotFound, and Get has a miss in any
	// case. Writes return it when nobody knows whether the server has done them, or will: no
	// copy is kept here. Compute, and what is made of it, returns it rather than take an
	// entry for absent; the change may have been made. With DegradedError GetOrLoad
	// returns it, too; otherwise it calls the loader, and returns the loaded value, which is not
	// kept but with DegradedStale.
	ErrSharedUnavailable = tiered.ErrSharedUnavailable
	// ErrFormat says that the files of the SSD tier were written by a version of
	// this package whose format this one does not read.
	ErrFormat = tiered.ErrFormat
	// ErrWrongType says that a value is of another type than was asked for.
	ErrWrongType = errors.New("firn: wrong type")
	// ErrNotModified is returned by a loader whose source says that the value of
	// CachedValue holds still.
	ErrNotModified = load.ErrNotModified
	// ErrLoadTimeout says that a loader took longer than
	// LoadingOptions.HardTimeout.
	ErrLoadTimeout = load.ErrTimeout
)

// OptionError is the error of Open and Validate for a field of Options that
// makes no sense, or asks for more memory than the system gives. A reader of options
// from elsewhere finds the field by it.
type OptionError struct {
	Field string // its path in Options: "RAMBytes", or "SSD.Dir" for a field of a field
	Err   error  // the field's value, and the values allowed: "is 1000: want at least 65536 bytes"
}

func (e *OptionError) Error() string { return "firn: Options." + e.Field + " " + e.Err.Error() }

// Unwrap is the error without the field.
func (e *OptionError) Unwrap() error { return e.Err }

// badOption is an OptionError with a formatted reason.
func badOption(field, format string, args ...any) error {
	return &OptionError{field, fmt.Errorf(format, args...)}
}

// openError is an error of the tiers as Open returns it.
func openError(err error) error {
	if bad, ok := err.(*tiered.OptionError); ok {
		return (*OptionError)(bad)
	}
	return err
}
