package link

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/redis/rueidis"
)

// ErrLost is the error of requests that a lost connection has not answered.
var ErrLost = errors.New("the connection was lost")

// Conn is one connection: one epoch of a feed, and more if the server is flushed. The
// transport would connect again by itself, and the feed would not notice: a Conn refuses a second
// dial.
type Conn struct {
	Addr   string
	Server Server // what it says of itself

	*Settings
	events Events
	client rueidis.Client
	pulse  pulse // the socket's

	// Of the goroutine that sends the heartbeats.
	watch   mapWatch
	refused bool   // the last heartbeat was, as by a server that loads its data
	token   string // that the last heartbeat has read

	dialed atomic.Bool
	heard  atomic.Int64 // until when the server was heard of, in clock.Boot; 0 before

	room      chan struct{} // a token for each request in the transport's ring
	abandoned atomic.Int64  // requests without a waiter, whose places are still taken

	mu   sync.Mutex
	sock *socket       // once it is dialed
	gone chan struct{} // closed when it is lost
}

// The transport's ring blocks, whatever the context, when it is full: we leave room in it for
// the heartbeat and for what the transport sends itself.
const (
	ringScale   = 10
	maxInFlight = 1<<ringScale - 64
)

// Do sends a command and waits for its answer, until the context ends. The command is used up.
func (c *Conn) Do(ctx context.Context, cmd rueidis.Completed) rueidis.RedisResult {
	if err := c.enter(ctx); err != nil {
		return rueidis.NewErrorResult(err)
	}
	result := c.client.Do(ctx, cmd)
	c.leave(result.NonRedisError())
	return result
}

// DoMulti is Do of several commands, which are sent together.
func (c *Conn) DoMulti(ctx context.Context, cmds ...rueidis.Completed) []rueidis.RedisResult {
	if err := c.enter(ctx); err != nil {
		return slices.Repeat([]rueidis.RedisResult{rueidis.NewErrorResult(err)}, len(cmds))
	}
	results := c.client.DoMulti(ctx, cmds...)
	var failed error
	for i := range results {
		failed = cmp.Or(results[i].NonRedisError(), failed)
	}
	c.leave(failed)
	return results
}

// Pulse counts what shows the connection to be alive.
func (c *Conn) Pulse() int64 { return c.pulse.Load() }

// Heard is until when the server was heard of, in clock.Boot; 0 before.
func (c *Conn) Heard() int64 { return c.heard.Load() }

// InFlight is how many requests have a place in the transport's ring.
func (c *Conn) InFlight() int { return len(c.room) }

// enter waits for room in the transport's ring.
func (c *Conn) enter(ctx context.Context) error {
	select {
	case c.room <- struct{}{}:
		return nil
	default:
	}
	select {
	case c.room <- struct{}{}:
		return nil
	case <-c.gone:
		return ErrLost
	case <-ctx.Done():
		return ctx.Err()
	}
}

// leave gives the room back. That of a request which was not waited for is free when a PONG
// arrives whose PING was sent after it.
func (c *Conn) leave(err error) {
	if err == nil {
		<-c.room
		return
	}
	c.abandoned.Add(1)
}

// Kill ends the connection: everything that waits for an answer gets an error.
func (c *Conn) Kill() {
	c.mu.Lock()
	s := c.sock
	lost := c.IsLost()
	if !lost {
		close(c.gone)
	}
	c.mu.Unlock()
	if s != nil {
		s.Conn.Close()
	}
	if !lost {
		c.events.Lost(c)
	}
}

// IsLost reports whether the connection is over.
func (c *Conn) IsLost() bool {
	select {
	case <-c.gone:
		return true
	default:
		return false
	}
}

// onPush is called by the goroutine that reads from the network, with the names of keys that
// another process has changed; with nil for all of them, and when the connection is over.
func (c *Conn) onPush(names []rueidis.RedisMessage) {
	if c.IsLost() {
		return // all copies are suspect already
	}
	if names == nil {
		c.events.Flushed(c)
		return
	}
	for i := range names {
		if name, err := names[i].ToString(); err == nil {
			c.events.Pushed(name)
		}
	}
}
