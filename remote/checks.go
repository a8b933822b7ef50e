package remote

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/firncache/firn/internal/shared"
)

// maxChecks is how many checks of suspect copies a server is asked at a time: after an
// interruption all copies are suspect at once, and other requests are not to wait behind them.
const maxChecks = 64

// checks are those under way: who wants to check the same copy waits for the answer, if that was
// asked for within the bound.
type checks struct {
	mu    sync.Mutex
	byKey map[string]*check
}

// check is one that is under way.
type check struct {
	have    shared.Version
	began   int64         // before it was asked, by bootNanos
	done    chan struct{} // closed with the answer
	waiting int           // for it; guarded by checks.mu

	found shared.Found
	err   error
	own   bool // err is of the context of the one who asked
}

// check is Read of a suspect copy.
func (t *Tier) check(ctx context.Context, dst []byte, q shared.Query) (shared.Found, error) {
	for {
		c, mine := t.checks.begin(q, bootNanos(), int64(t.o.Staleness))
		if mine {
			f, err := t.readKey(ctx, dst, q)
			t.checks.end(q.Key, c, f.Value[min(len(dst), len(f.Value)):], f, err, ctx.Err() != nil)
			return f, err
		}
		select {
		case <-c.done:
		case <-ctx.Done():
			return shared.Found{Value: dst}, ctx.Err()
		}
		if !c.own {
			f := c.found
			f.Value = append(dst, c.found.Value...)
			return f, c.err
		}
	}
}

// begin joins a check that was begun within the bound, or makes the caller's the one to join.
func (cs *checks) begin(q shared.Query, now, bound int64) (c *check, mine bool) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if c = cs.byKey[string(q.Key)]; c != nil && c.have == q.Have && now-c.began <= bound {
		c.waiting++
		return c, false
	}
	if cs.byKey == nil {
		cs.byKey = map[string]*check{}
	}
	c = &check{have: q.Have, began: now, done: make(chan struct{})}
	cs.byKey[string(q.Key)] = c
	return c, true
}

// end gives the answer to who waits. The value, which is the caller's own, is copied for them.
func (cs *checks) end(key []byte, c *check, value []byte, f shared.Found, err error, own bool) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if cs.byKey[string(key)] == c {
		delete(cs.byKey, string(key))
	}
	c.found, c.err, c.own = f, err, own && err != nil && !errors.Is(err, shared.ErrNotFound)
	c.found.Value = nil
	if c.waiting > 0 {
		c.found.Value = slices.Clone(value)
	}
	close(c.done)
}

// enterCheck waits, for a request's time, until few enough checks are on their way.
func (w *wire) enterCheck(ctx context.Context) (leave func(), err error) {
	w = w.real()
	select {
	case w.checking <- struct{}{}:
		return w.leaveCheck, nil
	default:
	}
	within, cancel := context.WithTimeout(ctx, w.t.o.Timeout)
	defer cancel()
	select {
	case w.checking <- struct{}{}:
		return w.leaveCheck, nil
	case <-w.done:
		return nil, w.unavailable(errClosed)
	case <-within.Done():
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return nil, fmt.Errorf("%w: %s: too many copies are checked", shared.ErrUnavailable, w.addr)
}

// enterChecks is enterCheck for a part of a batch, if it has a check.
func (w *wire) enterChecks(ctx context.Context, queries []shared.Query, part []item) (leave func(), err error) {
	for _, it := range part {
		if queries[it.i].Have != 0 {
			return w.enterCheck(ctx)
		}
	}
	return func() {}, nil
}

func (w *wire) leaveCheck() { <-w.checking }
