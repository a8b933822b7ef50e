package firn

import (
	"context"
	"fmt"

	"github.com/firncache/firn/internal/fleet"
	"github.com/firncache/firn/internal/load"
)

// Batch holds the values of one batch read, for one goroutine at a time. The zero Batch is ready for
// use; used again, it allocates nothing once it is large enough.
type Batch struct {
	found fleet.Batch
	came  []load.Outcome // by key, where something was loaded
}

// Len is the number of keys of the last batch read.
func (b *Batch) Len() int { return b.found.Len() }

// Value is the value of key i of the last batch read, and whether there was one.
// It is valid until the Batch is used again, and may be changed, not grown.
func (b *Batch) Value(i int) (value []byte, ok bool) { return b.found.Value(i) }

// Outcome is how the last GetMulti or GetOrLoadMulti came by the value of key i, or by its absence.
func (b *Batch) Outcome(i int) Outcome {
	if i < len(b.came) {
		o, _ := outcomeOf(b.came[i])
		return o
	}
	if _, ok := b.Value(i); ok {
		return OutcomeHit
	}
	return OutcomeNone
}

// GetMulti looks up many keys at once: their cache misses overlap, and disk and server are given
// many reads at once. The results are in b, which is emptied first. Each key is looked up on its
// own. What has not been read from SSD or server when the context ends is missing in b. The error
// is the first of Lookup's other than ErrNotFound.
func (c *Cache) GetMulti(ctx context.Context, b *Batch, keys [][]byte) error {
	b.came = b.came[:0]
	return c.store.LookupMulti(ctx, &b.found, keys)
}

// SetMulti stores values[i] under keys[i], with Options.TTL, at a fraction of the cost of single
// Sets. It stores as many as it can, and then returns the first error; slices of different lengths
// are an error before anything is stored.
func (c *Cache) SetMulti(ctx context.Context, keys, values [][]byte) error {
	if len(keys) != len(values) {
		return fmt.Errorf("firn: SetMulti: %d values for %d keys: want as many", len(values), len(keys))
	}
	return c.setMulti(ctx, &c.loads, keys, values)
}

// setMulti is SetMulti of values of a group.
func (c *Cache) setMulti(ctx context.Context, of *load.Group, keys, values [][]byte) error {
	if c.off {
		return c.keepNothing()
	}
	deadline, _ := of.DeadlineIn(of.TTL())
	var each func() int64
	if of.Jitters() {
		each = func() int64 {
			deadline, _ := of.DeadlineIn(of.Jittered(of.TTL()))
			return deadline
		}
	}
	return c.store.SetMultiContext(ctx, keys, values, deadline, each)
}

// DeleteMulti removes the values of keys, as many as it can, and returns the first error. That
// there were none is no error. Of one key, it is Delete with a context.
func (c *Cache) DeleteMulti(ctx context.Context, keys ...[]byte) error {
	return c.store.DeleteMultiContext(ctx, keys)
}
