package firn

import (
	"cmp"
	"context"

	"github.com/firncache/firn/internal/tiered"
)

// Refresh calls load for key, whether or not there is a value, and returns when
// its answer is stored, or with its error, or with what kept it from being stored:
// ErrTooLarge or ErrNoRoom, after which there is no value. That a Set, Delete or Clear during the load has won is no
// error. The load begins after the call of
// Refresh: one that is under way is let end first. Callers that refresh a key at
// the same time share a load, and callers of GetOrLoad that find no value join
// it. Until it ends, reads find the value from before; with ErrNotFound that
// value goes, with most other errors it stays. The rules of GetOrLoad apply
// otherwise, but expired values are no answer.
func (c *Cache) Refresh(ctx context.Context, key []byte, load LoadFunc) error {
	before := c.loads.number()
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		var call *loadCall
		f, err := c.loads.join(ctx, key, &call)
		if err != nil {
			return err
		}
		if call != nil {
			c.loads.count.refreshes.Add(1)
			c.start(call, load.multi(), unanswered)
		}
		select {
		case <-f.done:
		case <-ctx.Done():
			c.loads.leave(f)
			return ctx.Err()
		}
		if f.number <= before || f.result.cached {
			continue // it may have asked the source before the call, or not at all
		}
		if f.result.panicked != nil {
			panic(f.result.panicked)
		}
		return cmp.Or(f.result.err, f.result.unstored)
	}
}

// unanswered starts every load.
func unanswered([]byte) (res result, ok bool) { return res, false }

// getAhead is Get with a context, and it has a value refreshed before it
// expires.
func (c *Cache) getAhead(ctx context.Context, dst, key []byte, load LoadFunc) ([]byte, bool) {
	v, deadline, _, err := c.store.LookupDeadline(ctx, dst, key)
	ok := err == nil
	if ok && c.due(deadline) {
		c.refresh(ctx, [][]byte{key}, load.multi())
	}
	return v, ok
}

// due reports whether a value with this deadline is to be refreshed: less of its
// life is left than a value that was stored with Options.TTL has left after
// LoadingOptions.RefreshAfter.
func (c *Cache) due(deadline int64) bool {
	return c.loading.refreshAhead != 0 && deadline > 0 && deadline&1 == 0 && c.store.Passed(deadline-c.loading.refreshAhead)
}

// markLife makes the deadline of a value that lives for so many milliseconds
// odd if that is too short for it to be refreshed ahead, and even otherwise. So
// due can tell: to it, such a value would be due from the beginning, and be
// loaded over and over.
func (c *Cache) markLife(deadline, millis int64) int64 {
	ahead := c.loading.refreshAhead
	if ahead != 0 && (millis <= ahead) != (deadline&1 == 1) {
		deadline++
	}
	return deadline
}

// refresh loads anew, in the background, those of the keys that nobody loads
// already. It does not wait: if no more loads may run, it leaves the keys to
// later callers.
func (c *Cache) refresh(ctx context.Context, keys [][]byte, load MultiLoadFunc) {
	if !c.loads.tryEnter() {
		c.loads.count.refreshesPutOff.Add(uint64(len(keys)))
		return
	}
	var call *loadCall
	for _, key := range keys {
		c.loads.joinBackground(ctx, key, &call)
	}
	if call == nil {
		c.loads.exit()
		return
	}
	call.turn.held = true
	c.start(call, load, c.refreshed)
	c.loads.count.refreshes.Add(uint64(len(call.flights)))
}

// refreshed is the answer of a load that ended after the caller had found the
// value of key due, and before it joined.
func (c *Cache) refreshed(key []byte) (result, bool) {
	v, deadline, found := c.store.PeekRAM(nil, key)
	switch {
	case found == tiered.Fresh && !c.due(deadline):
		return result{value: v, cached: true}, true
	case found == tiered.Negative:
		return result{err: ErrNotFound, cached: true}, true
	}
	return result{}, false
}
