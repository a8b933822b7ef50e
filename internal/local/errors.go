package local

import (
	"errors"
	"fmt"

	"github.com/firncache/firn/internal/ram"
	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/internal/ssd"
	"github.com/firncache/firn/internal/vfs"
	"github.com/firncache/firn/internal/watch"
)

// The errors of a Store. Package firn documents them, under the same names.
var (
	ErrNotFound   = errors.New("firn: not found")
	ErrSwapped    = errors.New("firn: the key is empty, and dst is not: want dst before the key")
	ErrClosed     = errors.New("firn: cache is closed")
	ErrTooLarge   = errors.New("firn: too large")
	ErrNoRoom     = errors.New("firn: no room in RAM")
	ErrLocked     = errors.New("firn: directory is in use")
	ErrSSDTimeout = errors.New("firn: the SSD did not answer in time")
	ErrSSDBusy    = errors.New("firn: the SSD is busy")
	ErrFormat     = errors.New("firn: unknown format")

	ErrSharedUnavailable = shared.ErrUnavailable
)

// ErrChanged says that an Attempt came too late: the key was written since it began.
var ErrChanged = watch.ErrChanged

// OptionError is an error of Open for which one of the user's options is to
// blame. Package firn has one of the same fields.
type OptionError struct {
	Field string // its path in firn.Options
	Err   error
}

func (e *OptionError) Error() string { return "firn: Options." + e.Field + " " + e.Err.Error() }

// badOption is an OptionError with a formatted reason.
func badOption(field, format string, args ...any) error {
	return &OptionError{field, fmt.Errorf(format, args...)}
}

// errIfClosed is the error of a call that fails only if the store is closed.
func errIfClosed(ok bool) error {
	if !ok {
		return ErrClosed
	}
	return nil
}

// ramOpenError is the error of a RAM tier that could not be made.
func ramOpenError(cfg *Config, err error) error {
	switch {
	case !errors.Is(err, ram.ErrAddressSpace):
		return fmt.Errorf("firn: open: %w", err)
	case cfg.MaxRAMBytes > 0:
		return badOption("MaxRAMBytes", "is %d: %w", cfg.MaxRAMBytes, err)
	}
	return badOption("RAMBytes", "is %d: %w", cfg.RAMBytes, err)
}

// ssdOpenError is the error of an SSD tier that could not be opened.
func ssdOpenError(cfg *Config, err error) error {
	switch {
	case errors.Is(err, vfs.ErrLockedHere):
		return fmt.Errorf("%w: %s: this process has a cache open there, or has closed one that still waits for its disk: open it once, for all goroutines: %w", ErrLocked, cfg.Dir, err)
	case errors.Is(err, vfs.ErrLocked):
		return fmt.Errorf("%w: %s: another cache is open there, or was closed while its disk did nothing, and what it was writing is still under way, or the system still has the memory of a process that was killed: %w", ErrLocked, cfg.Dir, err)
	case errors.Is(err, ssd.ErrForeign):
		return badOption("SSD.Dir", "is %s, which cannot be used: %w", cfg.Dir, err)
	case errors.Is(err, ssd.ErrFormat):
		return fmt.Errorf("%w: %s: %w; SSDOptions.Recovery: RecoverNever starts anew", ErrFormat, cfg.Dir, err)
	}
	return fmt.Errorf("firn: SSD tier in %s: %w", cfg.Dir, err)
}

// with adds to the error of Open those of closing.
func with(err, closing error) error {
	if closing == nil {
		return err
	}
	if bad, ok := err.(*OptionError); ok {
		return &OptionError{bad.Field, errors.Join(bad.Err, closing)}
	}
	return errors.Join(err, closing)
}

// ShutdownError says that the store was closed before all was saved, and why. Package
// firn has one of the same fields.
type ShutdownError struct {
	Entries int64
	Bytes   int64
	Err     error
}

func (e *ShutdownError) Error() string {
	return fmt.Sprintf("firn: close the SSD tier: %v; %d entries of %d bytes are not saved", e.Err, e.Entries, e.Bytes)
}

func (e *ShutdownError) Unwrap() error { return e.Err }
