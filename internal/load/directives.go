package load

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// directives are a loader's wishes for the values that it is about to return. They
// travel in its context.
type directives struct {
	of     *Group
	within *directives // of the loader that asked for the load; nil: none did

	mu      sync.Mutex
	ttl     time.Duration
	ownTTL  bool
	noStore bool
}

type directivesKey struct{}

// SetTTL is firn.SetLoadTTL.
func SetTTL(ctx context.Context, ttl time.Duration) error {
	if ttl != 0 {
		if err := CheckTTL(ttl); err != nil {
			return fmt.Errorf("firn: SetLoadTTL: %w", err)
		}
	}
	return direct(ctx, "SetLoadTTL", func(d *directives) { d.ttl, d.ownTTL = ttl, true })
}

// SetNoStore is firn.NoStore.
func SetNoStore(ctx context.Context) error {
	return direct(ctx, "NoStore", func(d *directives) { d.noStore = true })
}

func direct(ctx context.Context, name string, change func(*directives)) error {
	d := directivesOf(ctx)
	if d == nil {
		return errors.New("firn: " + name + ": the context is not a loader's")
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	change(d)
	return nil
}

// directivesOf are those of the loader whose context ctx is; nil if it is nobody's.
func directivesOf(ctx context.Context) *directives {
	d, _ := ctx.Value(directivesKey{}).(*directives)
	return d
}

// get is the time to live that a loader chose, or usual, and whether nothing is
// to be stored.
func (d *directives) get(usual time.Duration) (ttl time.Duration, noStore bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ownTTL {
		usual = d.ttl
	}
	return usual, d.noStore
}

// inside reports whether d are those of a loader of this group.
func (d *directives) inside(g *Group) bool { return d != nil && d.of == g }

// around reports whether asker is this very loader, or one that was asked on its
// behalf.
func (d *directives) around(asker *directives) bool {
	for a := asker; a != nil; a = a.within {
		if a == d {
			return true
		}
	}
	return false
}
