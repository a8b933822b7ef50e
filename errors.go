package firn

import (
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
	// read: too many calls wait for it already, or it gives nothing back. See
	// SSDOptions.ReadTimeout.
	ErrSSDBusy = tiered.ErrSSDBusy
	// ErrSharedUnavailable says that the shared tier did not answer in time, could not be
	// reached, or refused.
	//
	// Reads: Get has a miss. With remote.DegradedError, Lookup and its like return it where no
	// local copy may be the answer, and so does GetOrLoad. Otherwise Lookup returns
	// ErrNotFound, and GetOrLoad calls the loader and returns the loaded value.
	//
	// Writes: the server may have done the write, may do it later, or not at all; no copy is
	// kept here. Compute and what is made of it return it rather than take an entry for
	// absent; the change may have been made.
	ErrSharedUnavailable = tiered.ErrSharedUnavailable
	// ErrFormat says that the files of the SSD tier were written by a version of
	// this package whose format this one does not read.
	ErrFormat = tiered.ErrFormat
	// ErrNotModified is returned by a loader whose source says that the value of
	// CachedValue holds still.
	ErrNotModified = load.ErrNotModified
	// ErrLoadTimeout says that a loader took longer than
	// LoadingOptions.HardTimeout.
	ErrLoadTimeout = load.ErrTimeout
)

// checkOrder refuses an empty key where dst has what may be it.
func checkOrder(dst, key []byte) error {
	if len(key) == 0 && len(dst) > 0 {
		return tiered.ErrSwapped
	}
	return nil
}

// OptionError is the error of Open and Validate for a field of Options that
// makes no sense, or needs more memory than the system gives. A reader of options
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
