package firn

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/firncache/firn/internal/ram"
)

// LoadFunc fetches the value of a key that the cache does not hold. The context
// ends when every caller that waits for the value has left, or the cache is
// closed. The key is the function's to keep; the slice that it returns must not
// be changed afterwards. An error, ErrNotFound for one, is handed to the callers
// and nothing is stored.
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
//
// A value that is too large to be stored is returned with an error that is
// ErrTooLarge. With any other error dst is returned as it was.
func (c *Cache) GetOrLoad(ctx context.Context, dst, key []byte, load LoadFunc) ([]byte, error) {
	if v, ok := c.Get(dst, key); ok {
		return v, nil
	}
	return c.getOrLoad(ctx, dst, key, load)
}

// getOrLoad is the slow path of GetOrLoad: nothing was found.
func (c *Cache) getOrLoad(ctx context.Context, dst, key []byte, load LoadFunc) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return dst, err
	}
	f, first, err := c.loads.join(ctx, key)
	if err != nil {
		return dst, err
	}
	if first {
		// A load that ended between Get and join has stored its value by now.
		if v, ok := c.peek(dst, key); ok {
			_ = c.loads.end(f, nil)
			f.finish(append([]byte(nil), v[len(dst):]...), nil)
			return v, nil
		}
		go c.runLoad(f, load)
	}
	select {
	case <-f.done:
	case <-ctx.Done():
		c.loads.leave(f)
		return dst, ctx.Err()
	}
	if f.panicked != nil {
		panic(f.panicked)
	}
	if f.err != nil && !errors.Is(f.err, ErrTooLarge) {
		return dst, f.err
	}
	return append(dst, f.value...), f.err
}

// runLoad calls the loader, stores its value unless something newer came, and
// wakes the callers.
func (c *Cache) runLoad(f *flight, load LoadFunc) {
	returned := false
	defer func() {
		if !returned { // a panic, or runtime.Goexit
			f.panicked = &loadPanic{recover(), debug.Stack()}
			_ = c.loads.end(f, nil)
			f.finish(nil, nil)
		}
	}()
	value, err := load(f.ctx, f.key)
	returned = true
	var left ram.Left
	stored := c.loads.end(f, func() error {
		if err != nil {
			return nil
		}
		return c.store(f.key, value, &left)
	})
	switch {
	case err == nil:
		err = stored
	case f.ctx.Err() != nil && c.ram.Closed():
		err = ErrClosed
	}
	f.finish(value, err)
	left.Report() // may call the user: after the callers have their value
}

// store is Set without superseding loads. Whatever leaves the cache for it is
// added to left, so that nobody is told under a lock.
func (c *Cache) store(key, value []byte, left *ram.Left) error {
	deadline, err := c.deadline(c.ttl)
	if err != nil {
		return err
	}
	return c.setQuietly(key, value, deadline, left)
}

// loads are the loads under way.
type loads struct {
	active atomic.Int64 // how many; writers look at nothing else when it is 0
	mu     sync.Mutex
	byKey  map[string]*flight // those that a caller can join
	all    map[*flight]struct{}
	closed bool
}

// flight is one load. Its callers' count and whether it was superseded are
// guarded by loads.mu; its result is written before done is closed.
type flight struct {
	key        []byte
	ctx        context.Context
	cancel     context.CancelFunc
	callers    int
	superseded bool // its value is not to be stored

	done     chan struct{}
	value    []byte
	err      error
	panicked *loadPanic
}

// loadPanic carries a loader's panic, and where it came from, to the callers.
type loadPanic struct {
	value any
	stack []byte
}

func (p *loadPanic) Error() string {
	return fmt.Sprintf("firn: load panicked: %v\n\n%s", p.value, p.stack)
}

// Unwrap is the value that the loader panicked with, if it is an error.
func (p *loadPanic) Unwrap() error {
	err, _ := p.value.(error)
	return err
}

// join enters a caller into the load of key; first says that there was none,
// and that the caller has to start it.
func (l *loads) join(ctx context.Context, key []byte) (f *flight, first bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, false, ErrClosed
	}
	if f = l.byKey[string(key)]; f != nil {
		f.callers++
		return f, false, nil
	}
	f = &flight{key: append([]byte(nil), key...), callers: 1, done: make(chan struct{})}
	f.ctx, f.cancel = context.WithCancel(context.WithoutCancel(ctx))
	if l.byKey == nil {
		l.byKey, l.all = make(map[string]*flight), make(map[*flight]struct{})
	}
	l.byKey[string(f.key)] = f
	l.all[f] = struct{}{}
	l.active.Add(1)
	return f, true, nil
}

// leave is called by a caller that does not wait for the end. The last one
// cancels the load.
func (l *loads) leave(f *flight) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if f.callers--; f.callers == 0 {
		l.detach(f)
		f.cancel()
	}
}

// detach hides a load from later callers and keeps its value from being
// stored. The caller holds mu.
func (l *loads) detach(f *flight) {
	f.superseded = true
	if l.byKey[string(f.key)] == f {
		delete(l.byKey, string(f.key))
	}
}

// supersede detaches the load of key: something newer is about to be written.
func (l *loads) supersede(key []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if f := l.byKey[string(key)]; f != nil {
		l.detach(f)
	}
}

// supersedeAll detaches every load.
func (l *loads) supersedeAll() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range l.byKey {
		l.detach(f)
	}
}

// end takes a load off the list, after it has stored its value with publish if
// nothing superseded it.
func (l *loads) end(f *flight, publish func() error) (err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if publish != nil && !f.superseded {
		err = publish()
	}
	l.detach(f)
	delete(l.all, f)
	l.active.Add(-1)
	return err
}

// finish hands the result to the callers.
func (f *flight) finish(value []byte, err error) {
	f.value, f.err = value, err
	f.cancel()
	close(f.done)
}

// close cancels every load and lets none begin.
func (l *loads) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	for f := range l.all {
		l.detach(f)
		f.cancel()
	}
}
