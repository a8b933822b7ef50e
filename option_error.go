package firn

import (
	"fmt"

	"github.com/firncache/firn/internal/tiered"
)

// OptionError is the error of Open and Validate for a field of Options that
// makes no sense, or asks for more memory than the system gives. What reads options from elsewhere finds the field by it.
type OptionError struct {
	Field string // its path in Options: "RAMBytes", or "SSD.Dir" for a field of a field
	Err   error  // what the field is, and what was wanted: "is 1000: want at least 65536 bytes"
}

func (e *OptionError) Error() string { return "firn: Options." + e.Field + " " + e.Err.Error() }

// Unwrap is what was wrong, without the field.
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
