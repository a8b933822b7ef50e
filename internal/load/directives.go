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
	of   *Group
	call *loaderCall

	mu     sync.Mutex
	all    wishes
	each   map[*flight]*wishes // for single values of a bulk load
	note   any
	cached []byte    // the value of CachedValue, nil before that found one
	waits  []*flight // that the loader waits for, and some that have ended
	waited int       // how many of them had not when that was last looked at, or fewWaits
}

// wishes are those for all values, or for one.
type wishes struct {
	ttl     time.Duration // 0 or less: nothing is to be kept
	ownTTL  bool
	none    bool   // nothing is to be kept, whatever ttl says
	alone   bool   // likewise, if the shared tier could be asked
	tags    []byte // of a key that has no value
	ownTags bool
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
	key, err := KeyOf(ctx)
	if err != nil {
		return fmt.Errorf("firn: SetLoadTTL: %w", err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	w := d.wishesFor(key)
	w.ttl, w.ownTTL = ttl, true
	return nil
}

// KeepNone has nothing kept of what the loader whose context ctx is returns, whatever SetTTL says.
func KeepNone(ctx context.Context) {
	setWishes(ctx, func(w *wishes) { w.none = true })
}

// KeepAlone has what the loader whose context ctx is returns kept in this process alone, where
// the shared tier was away when the load began, and otherwise nothing.
func KeepAlone(ctx context.Context) {
	setWishes(ctx, func(w *wishes) { w.alone = true })
}

// SetNegative says what a negative entry has that remembers an ErrNotFound of the loader whose
// context ctx is: its tags.
func SetNegative(ctx context.Context, tags []byte) {
	setWishes(ctx, func(w *wishes) { w.tags, w.ownTags = tags, true })
}

// setWishes changes the wishes of a loader, whose context ctx is, or is for a key of it.
func setWishes(ctx context.Context, set func(w *wishes)) {
	d := directivesOf(ctx)
	key, err := KeyOf(ctx)
	if err != nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	set(d.wishesFor(key))
}

// wishesFor are the wishes for a key that KeyOf returned. The caller holds mu.
func (d *directives) wishesFor(key int) *wishes {
	if key < 0 {
		return &d.all
	}
	f := d.call.flights[key]
	if d.each == nil {
		d.each = map[*flight]*wishes{}
	}
	if d.each[f] == nil {
		d.each[f] = new(wishes)
	}
	return d.each[f]
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

// directivesOf are those of the loader whose context ctx is; nil if it is not a loader's.
func directivesOf(ctx context.Context) *directives {
	d, _ := ctx.Value(directivesKey{}).(*directives)
	return d
}

// negative is what SetNegative said of the key of a load.
func (d *directives) negative(f *flight) []byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	if w := d.each[f]; w != nil && w.ownTags {
		return w.tags
	}
	return d.all.tags
}

// ttl is the time to live that the loader chose for the value of a load, or usual: 0 or less if
// nothing is to be kept.
func (d *directives) ttl(f *flight, usual time.Duration) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	w := d.each[f]
	switch {
	case d.all.none || w != nil && w.none:
		return 0
	case w != nil && w.ownTTL:
		return w.ttl
	case d.all.ownTTL:
		return d.all.ttl
	}
	return usual
}

// isAlone reports whether KeepAlone was said of a load.
func (d *directives) isAlone(f *flight) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	w := d.each[f]
	return d.all.alone || w != nil && w.alone
}

// inside reports whether d are those of a loader of this cache.
func (d *directives) inside(g *engine) bool { return d != nil && d.of.engine == g }

// keyContext is the context of a bulk load's loader for one of its keys: what is wished with it
// is for the value of that key alone.
type keyContext struct {
	context.Context
	key int
}

type keyContextKey struct{}

// ForKey is firn.ForKey.
func ForKey(ctx context.Context, i int) context.Context {
	return &keyContext{ctx, i}
}

// Value is that of the loader's context.
func (c *keyContext) Value(key any) any {
	if key == (keyContextKey{}) {
		return c
	}
	return c.Context.Value(key)
}

// KeyOf is the number of the key that a loader's context is for, and -1 if it is for all. It fails if
// the load has no such key.
func KeyOf(ctx context.Context) (key int, err error) {
	d := directivesOf(ctx)
	c, ok := ctx.Value(keyContextKey{}).(*keyContext)
	if !ok || d == nil {
		return -1, nil
	}
	if n := len(d.call.flights); c.key < 0 || c.key >= n {
		return 0, fmt.Errorf("ForKey(ctx, %d) of a load of %d keys: want 0 to %d", c.key, n, n-1)
	}
	return c.key, nil
}
