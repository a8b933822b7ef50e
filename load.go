package firn

import (
	"context"
	"time"

	"github.com/firncache/firn/internal/fleet"
	"github.com/firncache/firn/internal/load"
)

// LoadFunc fetches the value of a key that the cache does not hold. The key is the function's, to
// keep or to change; the slice that it returns must not be changed afterwards. The context has the
// values of the first caller's, and ends when the load does, with the cause ErrLoadTimeout,
// ErrClosed, or context.Canceled: see LoadingOptions.HardTimeout and CancelUnwanted. With it,
// [SetLoadTTL] says how long the value is to be kept.
//
// An error is handed to the callers, and the cached value stays. But ErrNotFound is an answer:
// there is no value, and the cache keeps none either. A nil slice without an error says the same:
// an empty value is []byte{}.
type LoadFunc = func(ctx context.Context, key []byte) ([]byte, error)

// MultiLoadFunc fetches the values of many keys at once: the value of keys[i] is values[i], and
// nil if it has none. There must be as many values as keys. No key appears twice. The slice and
// the keys are the function's. An error is that of every key. Otherwise it is like [LoadFunc];
// what it says with SetLoadTTL is said of all its values, and with the context of [ForKey] of one.
type MultiLoadFunc = func(ctx context.Context, keys [][]byte) (values [][]byte, err error)

// GetOrLoad is Lookup that calls load for a missing value, stores the value that it returns with
// Options.TTL, and appends it to dst.
//
//   - However many callers miss one key at once, one load runs, in a goroutine of its own, with
//     the first caller's function. If it panics, so do all callers that wait; without one, the
//     log has it.
//   - A caller whose context ends returns its error at once. The load goes on: see
//     LoadingOptions.HardTimeout, 30 s by default, and CancelUnwanted. Close ends it, with
//     ErrClosed.
//   - A Set, Delete or Clear that begins during a load wins: the value goes to those who wait
//     for it and is not stored, and later callers begin another load.
//   - A value is stored before another load of its key can begin. One that cannot be stored is
//     a value all the same, without an error, and the older one is gone:
//     Stats.Loads.StoreErrors counts those, and the log has a line for the first.
//   - A loader that calls GetOrLoad, with its own context, for its own key, or for one whose
//     load waits for that key, gets an error; with another context it waits until HardTimeout.
//
// With Options.Shared one process loads a key, and the others wait for its value; when it fails,
// or takes longer than its lease, another one loads. A write of any process wins. While the shared
// tier is unavailable, load is called, and the value kept here for remote.Options.Staleness; with
// remote.DegradedError that error is returned.
//
// [LoadingOptions] can add to that: values refreshed ahead, missing ones remembered, and answers
// while the source is slow or down.
func (c *Cache) GetOrLoad(ctx context.Context, dst, key []byte, load LoadFunc) ([]byte, error) {
	if err := checkOrder(dst, key); err != nil {
		return dst, err
	}
	if v, ok := c.getOrRefresh(ctx, &c.loads, dst, key, load); ok {
		return v, nil
	}
	v, _, err := c.loads.Load(ctx, dst, key, load, false)
	return v, err
}

// GetOrLoadEntry is GetOrLoad that also returns how it came by the value, or by the error, and of
// a hit what LookupEntry returns.
func (c *Cache) GetOrLoadEntry(ctx context.Context, dst, key []byte, load LoadFunc) (Entry, error) {
	if err := checkOrder(dst, key); err != nil {
		return Entry{Value: dst}, err
	}
	if v, found, ok := c.findOrRefresh(ctx, &c.loads, dst, key, load); ok {
		return Entry{v, c.timeTo(found.Deadline), tierOf(found.At), OutcomeHit}, nil
	}
	v, came, err := c.loads.Load(ctx, dst, key, load, false)
	e := Entry{Value: v}
	e.Outcome, e.Tier = outcomeOf(came)
	return e, err
}

// findOrRefresh is getOrRefresh that also returns what is known of the value.
func (c *Cache) findOrRefresh(ctx context.Context, of *load.Group, dst, key []byte, load LoadFunc) ([]byte, fleet.Kept, bool) {
	v, found, err := c.store.LookupToKeep(ctx, dst, key, true) // the load reads the shared tier
	if err == nil && !found.Shortened && of.NeedsRefresh(found.Deadline) {
		of.RefreshFound(ctx, key, load)
	}
	return v, found, err == nil
}

// getOrRefresh is the part of GetOrLoad that finds a value. If that is to be refreshed,
// it has load called in the background. Without one it returns dst as it was.
func (c *Cache) getOrRefresh(ctx context.Context, of *load.Group, dst, key []byte, load LoadFunc) ([]byte, bool) {
	if !of.RefreshesAhead() && !c.store.HasShared() {
		v, err := c.store.Lookup(ctx, dst, key)
		return v, err == nil
	}
	v, deadline, known, err := c.store.LookupLocal(ctx, dst, key) // the load reads the shared tier
	if err == nil && known && of.NeedsRefresh(deadline) {
		of.RefreshFound(ctx, key, load)
	}
	return v, err == nil
}

// GetOrLoadMulti is GetMulti that calls load once for all the values that are missing, except
// those that another load fetches already, and stores what it returns. For each key it keeps the
// rules of GetOrLoad. With Options.Shared, keys that another process loads are waited for
// meanwhile.
//
// The values are in b; a key without a value is a miss there, and no error. If some keys could not
// be loaded, they are misses too, and the error is that of the first. If ctx ends, b holds what
// was there by then.
func (c *Cache) GetOrLoadMulti(ctx context.Context, b *Batch, keys [][]byte, load MultiLoadFunc) error {
	b.came = b.came[:0]
	ctx = c.store.LookupMultiForLoad(ctx, &b.found, keys)
	return c.loads.LoadMulti(ctx, &b.found.Values, &b.came, keys, load)
}

// Refresh calls load for key, whether or not there is a value, and returns when its answer is
// stored: the value, appended to dst. With load's error it returns dst as it was; with one that
// kept the value from being stored (ErrTooLarge, ErrNoRoom, ErrLoadTimeout) the value all the
// same, and the cache has none. The load begins after the call: one that is under way is let end
// first. Callers that refresh a key at the same time share a load, and callers of GetOrLoad that
// find no value join it; until it ends, reads find the value from before. With ErrNotFound that
// value goes. With Options.Shared it waits for no other process.
func (c *Cache) Refresh(ctx context.Context, dst, key []byte, load LoadFunc) ([]byte, error) {
	if err := checkOrder(dst, key); err != nil {
		return dst, err
	}
	return c.loads.Refresh(ctx, dst, key, load)
}

// SetLoadTTL gives the values that a loader is about to return a time to live of their own, in
// place of Options.TTL, less LoadingOptions.TTLJitter; with Forever they never expire. With 0 or
// less, none of them is kept, nor an older one, and ErrNotFound is not remembered: so the max-age
// of a response, or the rest of a token's life, can be given as it is; less than a millisecond is
// one. A loader calls it with its own context, or one made from it, before it returns; the last
// call counts. It fails if ctx is not a loader's, or ttl is more than a hundred years and not
// Forever.
func SetLoadTTL(ctx context.Context, ttl time.Duration) error { return load.SetTTL(ctx, ttl) }

// ForKey is the context of a bulk loader, ctx, for the i-th of the keys that the loader was given:
// [SetLoadTTL] and [SetLoadTags] with it are about the value of that key alone, and count there
// whatever is said of all values with ctx, before or afterwards. They fail if there is no such key.
func ForKey(ctx context.Context, i int) context.Context { return load.ForKey(ctx, i) }

// CachedValue is the value that the cache holds of the key that a loader loads, for a source that says
// whether it has changed since: its ETag, version or time. If not, the loader returns
// [ErrNotModified]: its callers get this value, and the cache keeps it for another Options.TTL, or
// what [SetLoadTTL] says. A write wins over it as over any load.
//
// A loader calls it with its own context, or one made from it. It reports false where the cache
// holds none, in a bulk load, and with another context. An expired value is held for
// LoadingOptions.StaleIfError or StaleWhileRevalidate. The slice must not be changed. The loaders
// of a Typed use its method.
func CachedValue(ctx context.Context) (value []byte, ok bool) { return load.CachedValue(ctx, nil) }
