package bufpool

import "errors"

// Errors a caller may test for with errors.Is; they come wrapped with the
// figures that led to them.
var (
	// ErrTooLarge says that a buffer would exceed Options.MaxBuffer, or a stream
	// the limit of ReadAllN.
	ErrTooLarge = errors.New("bufpool: too large")
	// ErrNegative says that a size or a limit is below zero.
	ErrNegative = errors.New("bufpool: negative size")
	// ErrBadReader says that a reader returned a count that Read cannot return.
	ErrBadReader = errors.New("bufpool: reader returned an impossible count")
)
