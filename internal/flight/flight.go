// Package flight sends one request for many callers.
package flight

import (
	"context"
	"math"
	"sync"
)

// Any as since accepts the answer to a request that was sent before, After none but that to one
// sent after the call.
const (
	Any   = math.MinInt64
	After = math.MaxInt64
)

// Group has the requests under way: for each key one, and one more at most, which is sent when that
// is answered. A request goes on when no caller waits for it any more. The zero Group is ready.
type Group[K comparable, V any] struct {
	Now func() int64 // the time that requests note; nil: they are sent at Any

	mu      sync.Mutex // a leaf
	flights map[K]*flight[V]
}

// flight is one key's.
type flight[V any] struct{ sent, next *request[V] }

type request[V any] struct {
	ask   func() (V, error)
	began int64         // when it was sent
	done  chan struct{} // closed when value and err are set
	value V
	err   error
}

// Do returns the answer to a request for key that was sent at since or later: by send, unless
// another caller's is under way. Callers share the value. send gets ctx without its end; if that
// comes first, Do returns its error, and has sent nothing if it had come before the call.
func (g *Group[K, V]) Do(ctx context.Context, key K, since int64, send func(context.Context) (V, error)) (value V, err error) {
	if err := ctx.Err(); err != nil {
		return value, err
	}
	r := g.join(key, since, func() (V, error) { return send(context.WithoutCancel(ctx)) })
	select {
	case <-r.done:
		return r.value, r.err
	case <-ctx.Done():
		return value, ctx.Err()
	}
}

func (g *Group[K, V]) join(key K, since int64, ask func() (V, error)) *request[V] {
	g.mu.Lock()
	defer g.mu.Unlock()
	f := g.flights[key]
	switch {
	case f == nil:
		if g.flights == nil {
			g.flights = map[K]*flight[V]{}
		}
		f = &flight[V]{sent: &request[V]{ask: ask, began: g.now(), done: make(chan struct{})}}
		g.flights[key] = f
		go g.fly(key, f, f.sent)
		return f.sent
	case f.sent.began >= since:
		return f.sent
	case f.next == nil:
		f.next = &request[V]{ask: ask, done: make(chan struct{})}
	}
	return f.next
}

// fly sends one request after the other, until no caller has joined in the meantime.
func (g *Group[K, V]) fly(key K, f *flight[V], r *request[V]) {
	for r != nil {
		r.value, r.err = r.ask()
		done := r.done
		r = g.land(key, f)
		close(done)
	}
}

// land ends the request that was sent, and returns the next one.
func (g *Group[K, V]) land(key K, f *flight[V]) *request[V] {
	g.mu.Lock()
	defer g.mu.Unlock()
	if f.sent, f.next = f.next, nil; f.sent == nil {
		delete(g.flights, key)
		return nil
	}
	f.sent.began = g.now()
	return f.sent
}

func (g *Group[K, V]) now() int64 {
	if g.Now == nil {
		return Any
	}
	return g.Now()
}
