package load

import (
	"context"

	"github.com/firncache/firn/internal/local"
)

// Refresh is Cache.Refresh.
func (g *Group) Refresh(ctx context.Context, dst, key []byte, load Func) ([]byte, error) {
	before, hash := g.begun.Load(), g.store.Hash(key)
	for {
		if err := ctx.Err(); err != nil {
			return dst, err
		}
		var call *loaderCall
		f, err := g.joinOrBegin(ctx, hash, key, &call)
		if err != nil {
			return dst, err
		}
		if call != nil {
			g.count.refreshes.Add(1)
			g.start(call, loader{one: load}, demanded)
		}
		select {
		case <-f.done:
		case <-ctx.Done():
			g.leave(ctx, f)
			return dst, ctx.Err()
		}
		if key = f.key; f.number <= before || f.result.cached { // the caller's buffer may have been used
			continue // it may have read the source before the call, or not at all
		}
		if f.result.panicked != nil {
			panic(f.result.panicked)
		}
		if f.result.err != nil {
			return dst, f.result.err
		}
		return append(dst, f.result.value...), f.result.unstored
	}
}

// RefreshInBackground reloads those of the keys that have no load under way. It
// does not wait: if no more loads may run, it leaves the keys to later callers.
func (g *Group) RefreshInBackground(ctx context.Context, keys [][]byte, load MultiFunc) {
	g.refreshInBackground(ctx, keys, loader{many: load})
}

func (g *Group) refreshInBackground(ctx context.Context, keys [][]byte, load loader) {
	asker := directivesOf(ctx) // before the slot is taken: the user's own context may panic
	if !g.limiter.tryAcquire() {
		g.count.refreshesDeferred.Add(uint64(len(keys)))
		return
	}
	var call *loaderCall
	for _, key := range keys {
		g.joinBackground(ctx, asker, key, &call)
	}
	if call == nil {
		g.limiter.giveBack()
		return
	}
	call.slot.held = true
	g.count.refreshes.Add(uint64(g.start(call, load, ahead)))
}

// RefreshFound has one value refreshed, in the background, that was found and needs
// it.
func (g *Group) RefreshFound(ctx context.Context, key []byte, load Func) {
	g.refreshInBackground(ctx, [][]byte{key}, loader{one: load})
}

// needRefresh lists those of the keys whose value was found and needs a
// refresh.
func (g *Group) needRefresh(found *local.Values, keys [][]byte) (due [][]byte) {
	for i, key := range keys {
		if g.NeedsRefresh(found.Deadline(i)) {
			due = append(due, key)
		}
	}
	return due
}
