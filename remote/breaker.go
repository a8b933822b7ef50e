package remote

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/redis/rueidis"
)

// breaker keeps requests from a server that does not answer them: they fail at once, and do not
// wait for a timeout each. The connection's heartbeat goes on, and asks for one of them to try.
//
//	closed --- failures, one after another ---> open --- PONG ---> half-open
//	  ^                                          ^                  |     |
//	  |                                          +---- it fails ----+     |
//	  +-------------------- one request is answered ----------------------+
//
// A new connection closes it: the handshake has been answered.
type breaker struct {
	state    atomic.Uint32 // a breakerState; changed with mu held
	failures atomic.Int64  // one after another: see begin
	opened   atomic.Uint64 // times

	mu      sync.Mutex
	probing bool // half-open: the one request is under way
	changed func(from, to breakerState)
}

// breakerState says which requests are sent.
type breakerState uint32

const (
	breakerClosed   breakerState = iota // all
	breakerOpen                         // none
	breakerHalfOpen                     // one
)

func (s breakerState) String() string { return [...]string{"closed", "open", "half-open"}[s] }

// maxFailures is how many requests fail, one after another, before the breaker opens.
const maxFailures = 5

// begin is for note. Requests that were under way when another failed do not count: many that a
// server keeps waiting, once, are one failure.
func (b *breaker) begin() (failures int64) { return b.failures.Load() }

var errBreaker = errors.New("it does not answer, and is not asked")

func (b *breaker) load() breakerState { return breakerState(b.state.Load()) }

// allow reports whether a request may be sent. Its outcome has to be noted.
func (b *breaker) allow() bool {
	if b.load() == breakerClosed {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	switch b.load() {
	case breakerClosed:
		return true
	case breakerHalfOpen:
		if !b.probing {
			b.probing = true
			return true
		}
	}
	return false
}

// outcome is what a request says about its server.
type outcome uint8

const (
	unknown outcome = iota // nothing: it was given up by its caller
	answered
	failed
)

// note takes a request's outcome, and what begin was before it.
func (b *breaker) note(o outcome, began int64) {
	switch {
	case o == answered:
		b.close()
	case o == failed:
		counts := b.failures.CompareAndSwap(began, began+1)
		b.move(func(s breakerState) breakerState {
			if s == breakerHalfOpen || counts && began+1 >= maxFailures {
				return breakerOpen
			}
			return s
		})
	case b.load() != breakerClosed:
		b.move(func(s breakerState) breakerState { return s })
	}
}

// close lets all requests through.
func (b *breaker) close() {
	if b.failures.Load() != 0 {
		b.failures.Store(0)
	}
	if b.load() != breakerClosed {
		b.move(func(breakerState) breakerState { return breakerClosed })
	}
}

// pong lets one request through, if none is.
func (b *breaker) pong() {
	if b.load() != breakerOpen {
		return
	}
	b.move(func(s breakerState) breakerState {
		if s == breakerOpen {
			return breakerHalfOpen
		}
		return s
	})
}

// move changes the state, and ends the probe of the one before.
func (b *breaker) move(to func(breakerState) breakerState) {
	b.mu.Lock()
	from := b.load()
	next := to(from)
	b.state.Store(uint32(next))
	b.probing = false
	if from == breakerClosed && next == breakerOpen {
		b.opened.Add(1)
	}
	changed := b.changed
	b.mu.Unlock()
	if next != from && changed != nil {
		changed(from, next)
	}
}

// outcomeOf tells what the end of a request means: ctx is its caller's.
func outcomeOf(ctx context.Context, err error) outcome {
	var server *rueidis.RedisError
	switch {
	case err == nil:
		return answered
	case errors.As(err, &server):
		if isBusy(server.Error()) {
			return failed
		}
		return answered
	case ctx.Err() != nil || errors.Is(err, errClosed):
		return unknown
	}
	return failed
}

// isBusy reports whether a server's error says that it serves nobody at present.
func isBusy(says string) bool {
	for _, kind := range [...]string{"LOADING ", "BUSY ", "MASTERDOWN ", "CLUSTERDOWN "} {
		if strings.HasPrefix(says, kind) {
			return true
		}
	}
	return false
}
