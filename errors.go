package firn

import (
	"fmt"

	"github.com/firncache/firn/internal/load"
	"github.com/firncache/firn/internal/local"
)

// Errors to test for with errors.Is: some are wrapped. docs/ERRORS.md has all.
var (
	// ErrNotFound says that the cache holds no live value for the key.
	ErrNotFound = local.ErrNotFound
	// ErrClosed says that the cache was closed before the call, or during it.
	ErrClosed = local.ErrClosed
	// ErrTooLarge says that key and value are longer together than a quarter of the RAM budget, or
	// than TypedOptions.MaxBytes.
	ErrTooLarge = local.ErrTooLarge
	// ErrNoRoom says that nothing more can be evicted for a value: the budget is near its
	// least.
	ErrNoRoom = local.ErrNoRoom
	// ErrLocked says that the directory of the SSD tier is in use.
	ErrLocked = local.ErrLocked
	// ErrSSDTimeout says that the SSD did not give a value within SSDOptions.ReadTimeout.
	ErrSSDTimeout = local.ErrSSDTimeout
	// ErrSSDBusy says that the SSD was not read for a value: see SSDOptions.ReadTimeout.
	ErrSSDBusy = local.ErrSSDBusy
	// ErrSharedUnavailable says that the shared tier did not answer in time, could not be reached,
	// or refused. Reads return it with remote.DegradedError alone. A write, Compute too, may have
	// been done, or be done later; no copy is kept here.
	ErrSharedUnavailable = local.ErrSharedUnavailable
	// ErrFormat says that the files of the SSD tier have a format that this version does not read.
	ErrFormat = local.ErrFormat
	// ErrNotModified is returned by a loader whose source says that CachedValue holds still.
	ErrNotModified = load.ErrNotModified
	// ErrLoadTimeout says that a loader took longer than LoadingOptions.HardTimeout.
	ErrLoadTimeout = load.ErrTimeout
)

// checkOrder refuses an empty key where dst has what may be it.
func checkOrder(dst, key []byte) error {
	if len(key) == 0 && len(dst) > 0 {
		return local.ErrSwapped
	}
	return nil
}

// OptionError is the error of Open and Validate for a field of Options that makes no sense, or
// needs more memory than the system gives.
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
	if bad, ok := err.(*local.OptionError); ok {
		return (*OptionError)(bad)
	}
	return err
}
