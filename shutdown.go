package firn

import (
	"context"

	"github.com/firncache/firn/internal/tiered"
)

// Shutdown ends the cache and gives its memory back. With an SSD tier it first writes
// the entries of RAM there, whatever Admission says, the coldest first, and then the
// tier's index, so that the next Open finds them.
//
// It does what it can until ctx ends, and for ten seconds of a disk that does nothing. If
// that is not all, the error is a *[ShutdownError]. Of a deadline's time at least the
// last eighth is kept for the index, and half at most: entries of RAM may stay behind
// while there is some left. The files are right whatever Shutdown returns, and the cache
// is closed: what has been written is found by the next process, as after a kill, and
// nothing is older than what was set last. The directory stays locked until the writes
// have come back that were under way.
//
// Calls under way and later ones are safe: reads find nothing, writes return ErrClosed.
// A second Shutdown, or Close, returns nil, once the first has returned; or the error of
// its ctx, which does not end the first. Loaders are cancelled and not waited for.
//
// It closes the shared tier, too: calls that wait for a server return.
func (c *Cache) Shutdown(ctx context.Context) error {
	if c.adaptive != nil {
		c.adaptive.Stop()
	}
	c.loads.Close()
	err := c.store.Shutdown(ctx)
	if left, ok := err.(*tiered.ShutdownError); ok {
		return (*ShutdownError)(left)
	}
	return err
}

// Close is Shutdown that takes its time, as long as the disk does something.
func (c *Cache) Close() error { return c.Shutdown(context.Background()) }

// ShutdownError says that a cache was closed before all was written to its SSD tier.
type ShutdownError struct {
	// Entries is how many entries were not saved: those of RAM that did not reach the SSD,
	// and all that the cache had where the tier's index was not saved in time, or could not
	// be. All others the next Open finds, also after a restart of the machine. It may find
	// more: what the disk took last, and where the index outlives the process, see
	// Stats.SSD.Kept, what a kill leaves.
	Entries int64

	// Bytes is about how many bytes these are.
	Bytes int64

	// Err is why: context.DeadlineExceeded or context.Canceled, or what the disk said.
	Err error
}

func (e *ShutdownError) Error() string { return (*tiered.ShutdownError)(e).Error() }

// Unwrap returns Err.
func (e *ShutdownError) Unwrap() error { return e.Err }
