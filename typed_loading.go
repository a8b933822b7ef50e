package firn

import (
	"context"
	"sync"
)

// loading is what a GetOrLoad with a shared tier has to know of its loads: nil without one.
type loading struct {
	keep bool // the number of the namespace is known: what is loaded may be kept

	mu   sync.Mutex
	keys map[string]struct{} // of which the loader was called
}

// newLoading begins a GetOrLoad.
func (t *Typed[K, V]) newLoading(keep bool) *loading {
	if t.c.store.Numbers() == nil {
		return nil
	}
	return &loading{keep: keep}
}

// called notes that the loader is called for some keys.
func (l *loading) called(keys ...[]byte) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.keys == nil {
		l.keys = map[string]struct{}{}
	}
	for _, key := range keys {
		l.keys[string(key)] = struct{}{}
	}
}

// made reports, once for each call, whether a value that was loaded for a key is of this
// GetOrLoad's loader, and so from after it was called. Another may have been loaded by another
// process long before.
func (l *loading) made(key []byte) bool {
	if l == nil {
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_, ok := l.keys[string(key)]
	delete(l.keys, string(key))
	return ok
}

// returned is called when the loader has returned, with its context: nothing is kept that no
// Clear of another process would remove.
func (l *loading) returned(ctx context.Context) error {
	if l == nil || l.keep {
		return nil
	}
	return SetLoadTTL(ctx, 0)
}
