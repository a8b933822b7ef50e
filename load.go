package firn

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/firncache/firn/internal/ram"
	"github.com/firncache/firn/internal/tiered"
)

// LoadFunc fetches the value of a key that the cache does not hold. The key is
// the function's, to keep or to change; the slice that it returns must not be
// changed afterwards. The context ends when every caller that waits for the value has
// left, when LoadingOptions.HardTimeout is over, or when the cache is closed.
// With it, [LoadTTL] and [NoStore] say how long the value is to be kept.
//
// An error is handed to the callers, and what the cache held before stays. But
// ErrNotFound is an answer: there is no value, and so the cache keeps none
// either. LoadingOptions.NegativeTTL remembers that.
type LoadFunc func(ctx context.Context, key []byte) ([]byte, error)

// GetOrLoad is Lookup that calls load for a missing value, stores what it
// returns with Options.TTL, and appends it to dst.
//
//   - However many callers miss one key at once, one load runs, that of the
//     first, in a goroutine of its own.
//   - A caller whose context ends returns its error at once, while the load goes
//     on for the others. A load that nobody waits for any more is cancelled.
//   - A Set, Delete or Clear that begins during a load wins: the value goes to
//     those who wait for it and is not stored, and later callers load anew.
//   - A value is stored before another load of its key can begin.
//   - If load panics, so does every caller that waits for it.
//   - Close ends every load: its callers get ErrClosed at once.
//
// [LoadingOptions] can add to that: values refreshed before they expire or soon
// after, missing ones remembered, and answers while the source is slow or down.
//
// A value that was loaded and cannot be stored is a value all the same, without
// an error: Stats.LoadStoreErrors counts those, and the log is told of the first
// that is too large, and of the first that the SSD tier failed. An older value is
// not kept in its place. With an error that the loader returned, or the context's,
// dst is returned as it was. A loader that asks for its own key, with its own
// context, gets an error.
func (c *Cache) GetOrLoad(ctx context.Context, dst, key []byte, load LoadFunc) ([]byte, error) {
	if c.loading.refreshAhead == 0 {
		if v, err := c.store.Lookup(ctx, dst, key); err == nil {
			return v, nil
		}
	} else if v, ok := c.getAhead(ctx, dst, key, load); ok {
		return v, nil
	}
	return c.getOrLoad(ctx, dst, key, load)
}

// getOrLoad is the slow path of GetOrLoad: nothing was found.
func (c *Cache) getOrLoad(ctx context.Context, dst, key []byte, load LoadFunc) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return dst, err
	}
	switch v, found := c.recall(ctx, dst, key); found {
	case tiered.Fresh:
		return v, nil
	case tiered.Stale:
		c.refresh(ctx, [][]byte{key}, load.multi())
		return v, nil
	case tiered.Negative:
		return dst, ErrNotFound
	}
	var call *loadCall
	f, err := c.loads.join(ctx, key, &call)
	if err != nil {
		return dst, err
	}
	if call != nil {
		c.start(call, load.multi(), c.answered)
	}
	soft, stop := c.softTimeout()
	defer stop()
	v, _, err := c.wait(ctx, dst, f, soft)
	return v, err
}

// multi is a loader of one key as a loader of many.
func (load LoadFunc) multi() MultiLoadFunc {
	return func(ctx context.Context, keys [][]byte) ([][]byte, error) {
		v, err := load(ctx, keys[0])
		if v == nil {
			v = []byte{} // nil would be no value
		}
		return [][]byte{v}, err
	}
}

// start begins a call of a loader. A load of one of its keys may have ended
// after the caller had looked into the cache and before it joined: answered
// tells, and the key is left out.
func (c *Cache) start(call *loadCall, load MultiLoadFunc, answered func(key []byte) (result, bool)) {
	missing := make([]*flight, 0, len(call.flights))
	for _, f := range call.flights {
		c.store.Watch(&f.watch, f.key) // and then look: a write is either seen or noticed
		if res, ok := answered(f.key); ok {
			c.end(f, res)
		} else {
			missing = append(missing, f)
		}
	}
	if call.flights = missing; len(missing) > 0 {
		go c.run(call, load)
	} else {
		c.loads.leaveTurn(call)
	}
}

// answered is what a load of key has left in the cache. It looks into RAM, where
// a load's value is unless it was pushed out at once, and waits for no disk.
func (c *Cache) answered(key []byte) (result, bool) {
	switch v, _, found := c.store.PeekRAM(nil, key); found {
	case tiered.Fresh:
		return result{value: v, cached: true}, true
	case tiered.Negative:
		return result{err: ErrNotFound, cached: true}, true
	}
	return result{}, false
}

// end wakes the callers of a load.
func (c *Cache) end(f *flight, res result) {
	c.loads.end(f, res)
	c.store.Unwatch(&f.watch) // not before nobody can join: a write would not be noticed
}

// run calls the loader when it is its turn, stores what it returns unless
// something newer came, and wakes the callers. Until it has, the hard timeout and
// Close wake them at once.
func (c *Cache) run(call *loadCall, load MultiLoadFunc) {
	c.loads.enter(call)
	ctx, cancel := c.hardTimeout(call.ctx)
	stop := context.AfterFunc(ctx, func() { c.loads.abandon(call, context.Cause(ctx)) })
	var values [][]byte
	err := context.Cause(ctx)
	returned := false
	defer func() {
		var panicked *loadPanic
		if !returned { // a panic, or runtime.Goexit
			panicked = &loadPanic{recover(), debug.Stack()}
		}
		if err != nil && ctx.Err() != nil {
			err = context.Cause(ctx) // why the loader was told to stop
		}
		c.loads.leaveTurn(call)
		left, unstored := c.settle(call, values, err, panicked)
		stop()
		cancel()
		left.Report() // may call the user, as the next may: after the callers have their value
		c.loads.unstored.tell(unstored)
	}()
	if err == nil {
		c.loads.count.loads.Add(uint64(len(call.flights)))
		values, err = load(ctx, call.keys())
	}
	returned = true
}

// settle ends the loads of a call: each value is stored first, so that no load of
// its key can begin before. It returns what left the cache for it, and why some
// value could not be stored.
func (c *Cache) settle(call *loadCall, values [][]byte, err error, panicked *loadPanic) (left ram.Left, unstored error) {
	if err == nil && panicked == nil && len(values) != len(call.flights) {
		err = fmt.Errorf("firn: a loader returned %d values for %d keys: want as many", len(values), len(call.flights))
	}
	results := make([]result, len(call.flights))
	for i := range results {
		res := &results[i]
		res.err, res.panicked = err, panicked
		switch {
		case err != nil || panicked != nil:
		case values[i] == nil:
			res.err = ErrNotFound
		default:
			res.value = values[i]
		}
	}
	c.loads.returned(call, results)
	for i, f := range call.flights {
		res := &results[i]
		if res.unstored = c.keep(f, res, &left); isFailure(res.unstored) && !errors.Is(res.unstored, ErrClosed) {
			c.loads.count.unstored.Add(1)
			unstored = res.unstored
		}
		c.end(f, *res)
	}
	return left, unstored
}

// wait is how a caller waits: until the load has ended, or its own context, or
// until the soft timeout if the cache holds something to answer with. A value is
// appended to dst.
func (c *Cache) wait(ctx context.Context, dst []byte, f *flight, soft <-chan struct{}) (v []byte, ok bool, err error) {
	for {
		select {
		case <-f.done:
			return c.answer(ctx, dst, f)
		case <-ctx.Done():
			c.loads.leave(f)
			return dst, false, ctx.Err()
		case <-soft:
			soft = nil
			if v, ok := c.fallback(ctx, dst, f.key); ok {
				c.loads.count.softTimeouts.Add(1)
				c.loads.leaveRunning(f)
				return v, true, nil
			}
		}
	}
}

// answer is what a caller gets from a load that has ended.
func (c *Cache) answer(ctx context.Context, dst []byte, f *flight) (v []byte, ok bool, err error) {
	res := &f.result
	if res.panicked != nil {
		panic(res.panicked)
	}
	if res.err == nil {
		return append(dst, res.value...), true, nil
	}
	if isFailure(res.err) && !res.closed {
		if v, ok := c.fallback(ctx, dst, f.key); ok {
			c.loads.count.failSafes.Add(1)
			return v, true, nil
		}
	}
	return dst, false, res.err
}

// isFailure tells an error that says nothing about the value from an answer.
func isFailure(err error) bool { return err != nil && !errors.Is(err, ErrNotFound) }
