package load

import (
	"context"
	"sync"
	"time"
)

// loaderContext is the context of a call of a loader: the values of its caller's, and
// an end of its own. It does what WithoutCancel, WithValue, WithCancelCause and
// WithTimeoutCause do one above the other, with a fifth of their allocations.
// Contexts that are made from it find its end through AfterFunc, as package context
// says, and context.Cause finds the cause through Value.
type loaderContext struct {
	values     context.Context // the caller's; its end is not the loader's
	directives *directives
	deadline   time.Time // zero: none. It is set before the loader is called, under mu

	mu    sync.Mutex // a leaf
	done  chan struct{}
	err   error // why it ended; nil until then
	cause error
	std   context.Context // one of package context that ended for the same cause
	after map[*func()]struct{}
}

// Deadline is the moment of the hard timeout, if there is one.
func (c *loaderContext) Deadline() (deadline time.Time, ok bool) {
	return c.deadline, !c.deadline.IsZero()
}

// Done is closed when the context ends.
func (c *loaderContext) Done() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done == nil {
		c.done = make(chan struct{})
		if c.err != nil {
			close(c.done)
		}
	}
	return c.done
}

// Err is Canceled or DeadlineExceeded once the context has ended.
func (c *loaderContext) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Value is the caller's value of key.
func (c *loaderContext) Value(key any) any {
	switch key {
	case directivesKey{}:
		return c.directives
	case keyContextKey{}:
		return nil // that of a load around this one is none of this
	}
	if std := c.ended(); std != nil {
		if v := std.Value(key); v != nil { // context.Cause looks it up
			return v
		}
	}
	return context.WithoutCancel(c.values).Value(key)
}

// limit sets the deadline.
func (c *loaderContext) limit(deadline time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deadline = deadline
}

// limited is the deadline, for others than the loader.
func (c *loaderContext) limited() (deadline time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.deadline
}

// ended is a context of package context that ended for the same cause, nil before the
// end.
func (c *loaderContext) ended() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil && c.std == nil {
		std, cancel := context.WithCancelCause(context.Background())
		cancel(c.cause)
		c.std = std
	}
	return c.std
}

// AfterFunc has f called in a goroutine of its own when the context ends, as
// context.AfterFunc.
func (c *loaderContext) AfterFunc(f func()) (stop func() bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		go f()
		return func() bool { return false }
	}
	if c.after == nil {
		c.after = make(map[*func()]struct{})
	}
	c.after[&f] = struct{}{}
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		_, ok := c.after[&f]
		delete(c.after, &f)
		return ok
	}
}

// end ends the context, and reports false if it had ended already: the first cause
// counts. Without a cause it is err.
func (c *loaderContext) end(err, cause error) (first bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return false
	}
	if c.err, c.cause = err, cause; cause == nil {
		c.cause = err
	}
	if c.done != nil {
		close(c.done)
	}
	for f := range c.after {
		go (*f)()
	}
	c.after = nil
	return true
}

// why is the cause of the end, nil before it.
func (c *loaderContext) why() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cause
}
