package firn

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/firncache/firn/internal/ram"
)

// LoadTTL gives the values that a loader is about to return a time to live of
// their own, in place of Options.TTL; 0 means that they never expire. A loader
// calls it with its own context, or one made from it, before it returns; the
// last call counts. It fails if ttl is negative, or if ctx is not a loader's.
// LoadingOptions.TTLJitter applies.
func LoadTTL(ctx context.Context, ttl time.Duration) error {
	if ttl != 0 {
		if _, err := ttlMillis(ttl); err != nil {
			return fmt.Errorf("firn: LoadTTL: %w", err)
		}
	}
	return withFate(ctx, "LoadTTL", func(f *fate) { f.ttl, f.ownTTL = ttl, true })
}

// NoStore asks that nothing of what a loader is about to return be kept: the
// callers that wait get it, the cache holds no value of the key afterwards, an
// older one neither, and ErrNotFound is not remembered. A loader calls it with
// its own context, or one made from it, before it returns. It fails if ctx is
// not a loader's.
func NoStore(ctx context.Context) error {
	return withFate(ctx, "NoStore", func(f *fate) { f.noStore = true })
}

// fate is what becomes of the values that a loader returns, if the loader says
// so. It travels in the loader's context.
type fate struct {
	of     *loads
	within *fate // of the loader that asked for the load; nil: none did

	mu      sync.Mutex
	ttl     time.Duration
	ownTTL  bool
	noStore bool
}

type fateKey struct{}

// fateOf is that of the loader whose context ctx is; nil if it is nobody's.
func fateOf(ctx context.Context) *fate {
	f, _ := ctx.Value(fateKey{}).(*fate)
	return f
}

func withFate(ctx context.Context, name string, change func(*fate)) error {
	f := fateOf(ctx)
	if f == nil {
		return errors.New("firn: " + name + ": the context is not a loader's")
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	change(f)
	return nil
}

// inside reports whether f is that of a loader of this cache.
func (f *fate) inside(l *loads) bool { return f != nil && f.of == l }

// around reports whether asker is this very loader, or one that was asked on its
// behalf.
func (f *fate) around(asker *fate) bool {
	for g := asker; g != nil; g = g.within {
		if g == f {
			return true
		}
	}
	return false
}

// keep leaves in the cache what a load has found, and nothing older, and returns
// why that could not be done. If the key was written since the load began, or the
// load was given up, it does nothing. It may wait, for room or for the SSD, and is
// called with no lock held. Whatever leaves the cache for it is added to left, so
// that nobody is told before the callers have their value.
func (c *Cache) keep(f *flight, res *result, left *ram.Left) error {
	if res.panicked != nil || isFailure(res.err) {
		return nil
	}
	ttl, noStore := f.call.fate.get(c.ttl)
	switch {
	case noStore:
	case res.err == nil:
		deadline, err := c.deadline(c.jittered(ttl))
		if err == nil {
			err = c.store.SetIf(&f.watch, f.key, res.value, deadline, left)
		}
		if !errors.Is(err, ErrTooLarge) && !errors.Is(err, ErrNoRoom) {
			return err
		}
		return errors.Join(err, c.store.DeleteIf(&f.watch, f.key, left))
	case c.loading.NegativeTTL > 0 && c.keepAbsence(f, left) == nil:
		return nil
	}
	return c.store.DeleteIf(&f.watch, f.key, left)
}

// get is the time to live that a loader chose, or usual, and whether nothing is
// to be kept.
func (f *fate) get(usual time.Duration) (ttl time.Duration, noStore bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ownTTL {
		usual = f.ttl
	}
	return usual, f.noStore
}
