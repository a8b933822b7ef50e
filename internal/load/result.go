package load

import (
	"errors"
	"fmt"

	"github.com/firncache/firn/internal/local"
)

// result is how a load ended.
type result struct {
	value    []byte
	err      error // of the loader
	unstored error // why it could not be stored
	panicked *panicked
	cached   bool    // it was found in the cache, or left to another process: nothing was loaded
	from     Outcome // of what was found
	closed   bool    // the cache was closed: err is ErrClosed, and no failure
}

// isFailure separates an error that says nothing about the value from an answer.
func isFailure(err error) bool { return err != nil && !errors.Is(err, local.ErrNotFound) }

// failedToStore reports whether a value could not be stored of a cache that is open.
func (res *result) failedToStore() bool {
	return isFailure(res.unstored) && !errors.Is(res.unstored, local.ErrClosed)
}

// outcome is how a caller came by the result, who began the load or joined it.
func (res *result) outcome(began bool) Outcome {
	switch {
	case res.cached, res.closed:
		return res.from
	case began:
		return Loaded
	}
	return Joined
}

// panicked carries a loader's panic, and where it came from, to the callers.
type panicked struct {
	value any
	stack []byte
}

func (p *panicked) Error() string {
	if p.value == nil { // recover returns something else for panic(nil)
		return fmt.Sprintf("firn: a loader called runtime.Goexit, as FailNow of a test does\n\n%s", p.stack)
	}
	return fmt.Sprintf("firn: load panicked: %v\n\n%s", p.value, p.stack)
}

// Unwrap is the value that the loader panicked with, if it is an error.
func (p *panicked) Unwrap() error {
	err, _ := p.value.(error)
	return err
}
