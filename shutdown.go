package firn

import (
	"context"

	"github.com/firncache/firn/internal/local"
)

// Shutdown ends the cache and gives its memory back. With an SSD tier it first writes the entries
// of RAM there, whatever Admission says, the coldest first, and then the tier's index, so that the
// next Open finds them.
//
// It does what it can until ctx ends, and for ten seconds of a disk that does nothing. If that is
// not all, the error is a *[ShutdownError]. From an eighth to half of a deadline's time is kept
// for the index. The directory stays locked until writes that were under way have come back.
//
// Calls under way and later ones are safe: reads find nothing, writes return ErrClosed. A second
// Shutdown, or Close, returns nil once the first has returned, or the error of its ctx. Loaders
// are cancelled and not waited for. The shared tier is closed, too.
func (c *Cache) Shutdown(ctx context.Context) error {
	if c.adaptive != nil {
		c.adaptive.Stop()
	}
	c.loads.Close()
	err := c.store.Shutdown(ctx)
	c.typed.hot.Limit(0) // nothing is hot any more, also while a Typed lives on
	if left, ok := err.(*local.ShutdownError); ok {
		return (*ShutdownError)(left)
	}
	return err
}

// Close is Shutdown that takes its time, as long as the disk does something.
func (c *Cache) Close() error { return c.Shutdown(context.Background()) }

// ShutdownError says that a cache was closed before all was written to its SSD tier.
type ShutdownError struct {
	// Entries is how many entries were not saved: those of RAM that did not reach the SSD, or all
	// where the tier's index was not saved. The next Open may find more: see Stats.SSD.Kept.
	Entries int64

	// Bytes is about how many bytes these are.
	Bytes int64

	// Err is why: context.DeadlineExceeded or context.Canceled, or what the disk said.
	Err error
}

func (e *ShutdownError) Error() string { return (*local.ShutdownError)(e).Error() }

// Unwrap returns Err.
func (e *ShutdownError) Unwrap() error { return e.Err }
