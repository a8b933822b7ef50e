package firn

import (
	"context"
	"errors"

	"github.com/firncache/firn/internal/tiered"
)

// MultiLoadFunc fetches the values of many keys at once: the value of keys[i] is
// values[i], and nil if it has none (an empty value is not nil). There must be as
// many values as keys. No key appears twice. The slice and the keys are the
// function's. An error is that of every key;
// ErrNotFound says that none has a value. Otherwise it is like [LoadFunc], and
// what it says with LoadTTL or NoStore is said of all its values.
type MultiLoadFunc func(ctx context.Context, keys [][]byte) (values [][]byte, err error)

// GetOrLoadMulti is GetMulti that calls load once for all the values that are
// missing, but for those that another load fetches already, and stores what it
// returns. For each key it keeps the rules of GetOrLoad: one load at a time, and
// writes that win. The loader's context ends when nobody waits for any of its
// keys any more.
//
// The values are in b, found ones and loaded ones; a key without a value is a
// miss there, and no error. If some keys could not be loaded, they are misses
// too, and the error is that of the first. If ctx ends, b holds what was there by
// then.
func (c *Cache) GetOrLoadMulti(ctx context.Context, b *Batch, keys [][]byte, load MultiLoadFunc) error {
	_ = c.LookupMulti(ctx, b, keys) // what the disk does not give is loaded
	if c.loading.refreshAhead != 0 {
		c.refreshDue(ctx, b, keys, load)
	}
	for i := range keys {
		if _, ok := b.Value(i); !ok {
			return c.loadMissing(ctx, b, keys, load)
		}
	}
	return nil
}

// refreshDue has those values of a batch refreshed that are due.
func (c *Cache) refreshDue(ctx context.Context, b *Batch, keys [][]byte, load MultiLoadFunc) {
	var due [][]byte
	for i, key := range keys {
		if _, ok := b.Value(i); ok {
			if deadline, ok := c.store.DeadlineInRAM(key); ok && c.due(deadline) {
				due = append(due, key)
			}
		}
	}
	if due != nil {
		c.refresh(ctx, due, load)
	}
}

// loadMissing is the slow path of GetOrLoadMulti. It writes the batch anew: what
// was found, and what is loaded, in the order of the keys.
func (c *Cache) loadMissing(ctx context.Context, b *Batch, keys [][]byte, load MultiLoadFunc) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	answers, first := c.joinMissing(ctx, b, keys, load)
	defer func() { // of those that are still waited for, if one panicked
		for _, a := range answers {
			if a.flight != nil {
				c.loads.leave(a.flight)
			}
		}
	}()
	soft, stop := c.softTimeout()
	defer stop()
	found := tiered.Values{Bytes: make([]byte, 0, 2*len(b.found.Bytes))}
	for i := range answers {
		a, start := &answers[i], len(found.Bytes)
		if a.flight != nil {
			f := a.flight
			a.flight = nil
			var err error
			found.Bytes, a.ok, err = c.wait(ctx, found.Bytes, f, soft)
			if first == nil && !errors.Is(err, ErrNotFound) {
				first = err
			}
		} else {
			found.Bytes = append(found.Bytes, a.value...)
		}
		found.End(start, a.ok)
	}
	b.found.Values = found
	return first
}

// multiAnswer is what is known of one key of a batch: its value, or the load
// that fetches it.
type multiAnswer struct {
	value  []byte
	ok     bool
	flight *flight
}

// joinMissing enters the caller into a load for each key without a value, and
// starts those that are not under way.
func (c *Cache) joinMissing(ctx context.Context, b *Batch, keys [][]byte, load MultiLoadFunc) (answers []multiAnswer, err error) {
	var call *loadCall
	var old [][]byte
	answers = make([]multiAnswer, len(keys))
	for i, key := range keys {
		a := &answers[i]
		if a.value, a.ok = b.Value(i); a.ok {
			continue
		}
		v, found := c.recall(ctx, nil, key)
		switch found {
		case tiered.Miss:
			var failed error
			if a.flight, failed = c.loads.join(ctx, key, &call); err == nil {
				err = failed
			}
		case tiered.Fresh, tiered.Stale:
			a.value, a.ok = v, true
		}
		if found == tiered.Stale {
			old = append(old, key)
		}
	}
	if call != nil {
		c.start(call, load, c.answered)
	}
	if old != nil {
		c.refresh(ctx, old, load)
	}
	return answers, err
}
