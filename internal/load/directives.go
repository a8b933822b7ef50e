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
	within *directives // of the loader that began the load; nil: none did
	call   *loaderCall

	mu     sync.Mutex
	ttl    time.Duration // 0 or less: nothing is to be kept
	ownTTL bool
	note   any
	tags   []byte    // of a key that has no value
	cached []byte    // the value of CachedValue, nil before that found one
	waits  []*flight // that the loader waits for, and some that have ended
}

type directivesKey struct{}

// SetTTL is firn.SetLoadTTL.
func SetTTL(ctx context.Context, ttl time.Duration) error {
	if ttl > 0 {
		ttl = max(ttl, time.Millisecond)
		if err := CheckTTL(ttl); err != nil {
			return fmt.Errorf("firn: SetLoadTTL: %w", err)
		}
	}
	d := directivesOf(ctx)
	if d == nil {
		return errors.New("firn: SetLoadTTL: the context is not a loader's: want the one that the loader was given, or one made from it")
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ttl, d.ownTTL = ttl, true
	return nil
}

// SetNote keeps a note for the loader whose context ctx is, which reads it by Note. The
// loads that this loader begins do not get it.
func SetNote(ctx context.Context, note any) {
	d := directivesOf(ctx)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.note = note
}

// Note is what SetNote kept for the loader whose context ctx is; nil without.
func Note(ctx context.Context) any {
	d := directivesOf(ctx)
	if d == nil {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.note
}

// SetNegative says what a negative entry has that remembers an ErrNotFound of the loader whose
// context ctx is: its tags.
func SetNegative(ctx context.Context, tags []byte) {
	d := directivesOf(ctx)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tags = tags
}

// negative is what SetNegative said.
func (d *directives) negative() []byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.tags
}

// directivesOf are those of the loader whose context ctx is; nil if it is not a loader's.
func directivesOf(ctx context.Context) *directives {
	d, _ := ctx.Value(directivesKey{}).(*directives)
	return d
}

// get is the time to live that a loader chose, or usual: 0 or less if nothing is to be
// kept.
func (d *directives) get(usual time.Duration) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ownTTL {
		return d.ttl
	}
	return usual
}

// inside reports whether d are those of a loader of this cache.
func (d *directives) inside(g *engine) bool { return d != nil && d.of.engine == g }

// around reports whether asker is this very loader, or one that was called on its
// behalf.
func (d *directives) around(asker *directives) bool {
	for a := asker; a != nil; a = a.within {
		if a == d {
			return true
		}
	}
	return false
}
