package remote

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/firncache/firn/internal/shared"
	"github.com/redis/rueidis"
)

// wire is the way to one primary. It has one connection at a time, makes another when that is
// lost, and fails the requests in between. do and doMulti are the only doors.
type wire struct {
	t    *sharedTier
	addr string

	via   *wire         // if set, this one is a guided wire to it
	poked chan struct{} // has a heartbeat be sent at once

	mu        sync.Mutex
	closed    bool
	started   bool
	state     atomic.Pointer[wireState]
	lastError atomic.Value // a string: of the last attempt to connect
	refusals  sync.Map     // by the first word of an error: when it was logged last, in bootNanos
	presence  presence
	patience  patience
	checking  chan struct{} // a token for each check that is on its way

	done chan struct{} // closed by close
	ends sync.WaitGroup
}

// wireState is what a wire is at present.
//
//	connecting -> up -> connecting -> down -> down … -> up
//	                    first attempt, which requests wait for
type wireState struct {
	conn    *conn         // up, if not nil
	err     error         // down, if not nil: why
	changed chan struct{} // closed when this is not the state any more; nil when up or down
}

func newWire(t *sharedTier, addr string) *wire {
	w := &wire{t: t, addr: addr, done: make(chan struct{}), poked: make(chan struct{}, 1), checking: make(chan struct{}, maxChecks)}
	w.presence.changed = w.notePresence
	w.state.Store(&wireState{err: errNotConnected})
	return w
}

var errNotConnected = errors.New("not connected yet")

// start has the wire stay connected until it is closed.
func (w *wire) start() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || w.started {
		return
	}
	w.started = true
	s := w.state.Load()
	if s.conn != nil {
		w.publish(s.conn)
	} else {
		w.set(&wireState{changed: make(chan struct{})})
	}
	w.ends.Go(w.stayConnected)
}

// set is called with mu held.
func (w *wire) set(s *wireState) {
	old := w.state.Swap(s)
	if old.changed != nil {
		close(old.changed)
	}
}

// stayConnected makes one connection after the other: at once if the server was heard of, and
// after a pause otherwise, longer each time. A server may take a connection and end it.
func (w *wire) stayConnected() {
	delay := time.Duration(0)
	for {
		heard := false
		if s := w.state.Load(); s.conn != nil {
			s.conn.live() // until it is lost
			w.onLost(s.conn)
			if !w.isClosed() {
				w.t.noteLost(w) // before another epoch begins
			}
			heard = s.conn.heard.Load() != 0
		} else if w.connect(w.t.dialing) == nil {
			continue
		}
		if delay = w.t.rhythm.retry(delay); heard {
			delay = 0
		}
		if !w.pause(delay) {
			return
		}
	}
}

// pause waits for about d. It reports false when the wire is closed.
func (w *wire) pause(d time.Duration) bool {
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

// connect makes one attempt.
func (w *wire) connect(ctx context.Context) error {
	c, err := dialConn(ctx, w)
	if err == nil {
		err = w.fits(c)
	}
	if err = w.take(c, err); err != nil && c != nil {
		c.kill() // without mu: it notifies the wire
	}
	return err
}

// take ends an attempt, which has made a connection or failed.
func (w *wire) take(c *conn, err error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case err != nil:
	case w.closed:
		err = errClosed
	case c.isLost():
		err = errLost
	default:
		w.set(&wireState{conn: c})
		if w.started {
			w.publish(c)
		}
		w.t.noteConnected(w, c)
		return nil
	}
	w.set(&wireState{err: err})
	if !w.closed {
		w.t.noteFailed(w, err)
	}
	return err
}

// publish begins the connection's epoch. It is called with mu held.
func (w *wire) publish(c *conn) {
	f := c.feed.Load()
	w.setFeed(f)
	w.adopt(f)
}

// onLost is called when a connection is lost, also twice: the epoch is over.
func (w *wire) onLost(c *conn) {
	w.mu.Lock()
	s := w.state.Load()
	if s.conn == c {
		next := &wireState{changed: make(chan struct{})}
		if w.closed {
			next = &wireState{err: errClosed}
		}
		w.set(next)
		if w.started {
			w.setFeed(shared.NewFeed())
		}
	}
	w.mu.Unlock()
}

// onFlushed is called by the connection when the server announces that every key may have
// changed.
func (w *wire) onFlushed(c *conn) {
	next := shared.NewFeed()
	w.mu.Lock()
	present := w.started && w.state.Load().conn == c
	if present {
		w.setFeed(next)
	}
	w.mu.Unlock()
	if present {
		w.t.noteEpoch()
	}
	c.feed.Store(next) // the next PONG has it be trusted, after the local tiers know
	if present {
		w.adopt(next)
	}
}

// close ends the wire: what waits for an answer fails.
func (w *wire) close() {
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return
	}
	w.closed = true
	close(w.done)
	s := w.state.Load()
	if s.conn == nil {
		w.set(&wireState{err: errClosed})
	}
	w.mu.Unlock()
	if s.conn != nil {
		s.conn.kill()
	}
	w.ends.Wait()
}

func (w *wire) isClosed() bool {
	select {
	case <-w.done:
		return true
	default:
		return false
	}
}

// present is the connection, if need be after the attempt that is under way.
func (w *wire) present(ctx context.Context) (*conn, error) {
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
			return nil, errNotConnected
		}
	}
}

// stamp is that of later requests: 0 while there is no feed.
func (w *wire) stamp(slot int) shared.Stamp {
	c := w.real().state.Load().conn
	if c == nil || !c.tracked() || w.via != nil {
		return 0
	}
	if w.t.cluster != nil {
		return w.t.cluster.stamp(w, slot)
	}
	return c.feed.Load().Stamp(slot)
}

// send sends a command over the present connection.
func (w *wire) send(ctx context.Context, cmd rueidis.Completed) rueidis.RedisResult {
	within, cancel := w.patience.with(ctx, w.t.timeoutOf(sizeOf(cmd)))
	defer cancel()
	c, seen, err := w.enter(ctx, within)
	if err != nil {
		return rueidis.NewErrorResult(w.failed(ctx, err))
	}
	result := c.client.Do(within, cmd)
	err = result.NonRedisError()
	if c.leave(err); err != nil {
		w.noteSilence(ctx, within, c, seen)
		return rueidis.NewErrorResult(w.failed(ctx, err))
	}
	return result
}

// sendMulti is send of several.
func (w *wire) sendMulti(ctx context.Context, cmds []rueidis.Completed) []rueidis.RedisResult {
	size := 0
	for _, cmd := range cmds {
		size += sizeOf(cmd)
	}
	within, cancel := w.patience.with(ctx, w.t.timeoutOf(size))
	defer cancel()
	c, seen, err := w.enter(ctx, within)
	if err != nil {
		return errorResults(len(cmds), w.failed(ctx, err))
	}
	results := c.client.DoMulti(within, cmds...)
	for i := range results {
		if e := results[i].NonRedisError(); e != nil {
			err = e
			results[i] = rueidis.NewErrorResult(w.failed(ctx, e))
		}
	}
	if c.leave(err); err != nil {
		w.noteSilence(ctx, within, c, seen)
	}
	return results
}

// maxBatch is how many commands are sent together at most: from 2,000 on the transport would
// make another connection, which the feed does not know.
const maxBatch = 256

// enter is the connection, with room for a request, and what had come over it.
func (w *wire) enter(ctx, within context.Context) (c *conn, seen int64, err error) {
	if w.presence.away.Load() {
		return nil, 0, errAway
	}
	if c, err = w.present(within); err == nil {
		seen = c.pulse.Load()
		err = c.enter(within)
	}
	if err != nil {
		w.noteSilence(ctx, within, c, seen)
	}
	return c, seen, err
}

// noteSilence follows a request that failed. If its time was over, and nothing has come meanwhile,
// no request after it waits, until a heartbeat, which is sent at once, is answered.
func (w *wire) noteSilence(ctx, within context.Context, c *conn, seen int64) {
	if within.Err() == nil || ctx.Err() != nil || c != nil && c.pulse.Load() != seen {
		return
	}
	w.presence.set(true)
	w.poke()
}

// failed is the error of a request whose outcome is unknown.
func (w *wire) failed(ctx context.Context, err error) error {
	if ctxErr := ctx.Err(); ctxErr != nil {
		return ctxErr
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%w: %s: no answer in time", shared.ErrUnavailable, w.addr)
	}
	return w.unavailable(err)
}

// sizeOf is the length of a command's arguments in bytes.
func sizeOf(cmd rueidis.Completed) (n int) {
	for _, arg := range cmd.Commands() {
		n += len(arg)
	}
	return n
}

// maxChecks is how many checks of suspect copies a server gets at a time: after an
// interruption all copies are suspect at once, and other requests are not to wait behind them.
const maxChecks = 64

// fits returns an error for a connection to a server that the tier is not made for.
func (w *wire) fits(c *conn) error {
	switch clustered := c.server.mode == inCluster; {
	case clustered && w.t.cluster == nil:
		return fmt.Errorf("remote: %s: is in a cluster now: want the tier opened anew", c.w.addr)
	case !clustered && len(w.t.o.Addrs) > 1:
		return optionError("Addrs", w.t.o.Addrs, "one address, or those of a cluster: "+c.w.addr+" is not in cluster mode")
	}
	return nil
}

// poke requests the server's map at once.
func (w *wire) poke() {
	select {
	case w.poked <- struct{}{}:
	default: // it will be
	}
}
