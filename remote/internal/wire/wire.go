package wire

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/firncache/firn/remote/internal/link"
)

// Wire is the way to one server. Do and DoMulti are the only doors.
type Wire struct {
	Addr string

	common *Common
	via    *Wire         // if set, this one is a guided wire to it
	poked  chan struct{} // has a heartbeat be sent at once

	mu       sync.Mutex
	closed   bool
	started  bool
	state    atomic.Pointer[state]
	causes   sync.Map // of attempts to connect since the last connection, which were logged
	losses   outages  // of the connection
	absences outages  // of presence
	refusals sync.Map // by the first word of an error: when it was logged last, in clock.Boot
	presence presence
	patience patience
	checking chan struct{} // a token for each check that is on its way

	done chan struct{} // closed by Close
	ends sync.WaitGroup
}

// state is what a wire is at present.
//
//	connecting -> up -> connecting -> down -> down … -> up
//	                    first attempt, which requests wait for
type state struct {
	conn    *link.Conn    // up, if not nil
	err     error         // down, if not nil: why
	changed chan struct{} // closed when this is not the state any more; nil when up or down
}

// The errors of a wire without a connection.
var (
	ErrClosed       = errors.New("the tier is closed")
	ErrNotConnected = errors.New("not connected yet")
)

// New is a wire that is not connected.
func New(common *Common, addr string) *Wire {
	w := &Wire{Addr: addr, common: common, done: make(chan struct{}), poked: make(chan struct{}, 1), checking: make(chan struct{}, maxChecks)}
	w.presence.changed = w.notePresence
	w.state.Store(&state{err: ErrNotConnected})
	return w
}

// Start has the wire stay connected until it is closed.
func (w *Wire) Start() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || w.started {
		return
	}
	w.started = true
	if s := w.state.Load(); s.conn != nil {
		w.publish()
	} else {
		w.set(&state{changed: make(chan struct{})})
	}
	w.ends.Go(w.stayConnected)
}

// set is called with mu held.
func (w *Wire) set(s *state) {
	old := w.state.Swap(s)
	if old.changed != nil {
		close(old.changed)
	}
}

// stayConnected makes one connection after the other: at once if the last one has lived, and
// after a pause otherwise, longer each time. A server may take a connection and end it.
func (w *Wire) stayConnected() {
	delay := time.Duration(0)
	for {
		lived := false
		if c := w.Conn(); c != nil {
			began := time.Now()
			c.Live(w.poked) // until it is lost
			w.onLost(c)
			if !w.isClosed() {
				w.noteLost() // before another epoch begins
			}
			lived = c.Heard() != 0 && time.Since(began) >= w.common.Rhythm.MaxRetry
		} else if w.Connect(w.common.Dialing) == nil {
			continue
		}
		if delay = w.common.Rhythm.Retry(delay); lived {
			delay = 0
		}
		if !w.pause(delay) {
			return
		}
	}
}

// pause waits for about d. It reports false when the wire is closed.
func (w *Wire) pause(d time.Duration) bool {
	if d > 0 {
		d = d/2 + rand.N(d)
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-w.done:
		return false
	case <-timer.C:
	}
	return !w.isClosed()
}

// Connect makes one attempt, as a wire that was started does by itself.
func (w *Wire) Connect(ctx context.Context) error {
	c, err := link.Dial(ctx, &w.common.Settings, w.Addr, events{w})
	if err == nil {
		err = w.common.Owner.Fits(w.Addr, c.Server)
	}
	if err = w.take(c, err); err != nil && c != nil {
		c.Kill() // without mu: it notifies the wire
	}
	return err
}

// take ends an attempt, which has made a connection or failed.
func (w *Wire) take(c *link.Conn, err error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case err != nil:
	case w.closed:
		err = ErrClosed
	case c.IsLost():
		err = link.ErrLost
	default:
		if w.started {
			w.publish() // first: requests that wait for the connection get stamps of its epoch
		}
		w.set(&state{conn: c})
		w.noteConnected(c)
		return nil
	}
	w.set(&state{err: err})
	if !w.closed {
		w.noteFailed(err)
	}
	return err
}

// Close ends the wire: what waits for an answer fails.
func (w *Wire) Close() {
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return
	}
	w.closed = true
	close(w.done)
	c := w.Conn()
	if c == nil {
		w.set(&state{err: ErrClosed})
	}
	w.mu.Unlock()
	if c != nil {
		c.Kill()
	}
	w.ends.Wait()
}

func (w *Wire) isClosed() bool {
	select {
	case <-w.done:
		return true
	default:
		return false
	}
}

// Conn is the connection; nil if there is none.
func (w *Wire) Conn() *link.Conn { return w.state.Load().conn }

// Err is why the wire is down; nil if it is up, or an attempt to connect is under way.
func (w *Wire) Err() error { return w.state.Load().err }

// Present is the connection, if there is one; coming says whether the first attempt to make it is under
// way, or yet to be made.
func (w *Wire) Present() (c *link.Conn, coming bool) {
	s := w.state.Load()
	return s.conn, s.changed != nil || s.err == ErrNotConnected
}

// present is the connection, if need be after the attempt that is under way.
func (w *Wire) present(ctx context.Context) (*link.Conn, error) {
	for {
		s := w.state.Load()
		if s.conn != nil {
			return s.conn, nil
		}
		if s.err != nil {
			return nil, s.err
		}
		select {
		case <-s.changed:
		case <-ctx.Done():
			return nil, ErrNotConnected
		}
	}
}

// Poke has the server send its map at once.
func (w *Wire) Poke() {
	select {
	case w.poked <- struct{}{}:
	default: // it will be
	}
}
