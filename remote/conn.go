package remote

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/firncache/firn/internal/shared"
	"github.com/redis/rueidis"
)

var (
	errClosed = errors.New("the tier is closed")
	errLost   = errors.New("the connection was lost")
)

// conn is one connection: one epoch of a feed, and more if the server is flushed. The
// transport would connect again by itself, and the feed would not notice: a conn refuses a second
// dial.
type conn struct {
	w       *wire
	client  rueidis.Client
	server  server
	feed    atomic.Pointer[shared.Feed]
	pulse   pulse // the socket's
	watch   mapWatch
	refused bool   // the last heartbeat was, as by a server that loads its data; likewise
	token   string // that the last heartbeat has read; of the goroutine that sends them

	dialed atomic.Bool
	heard  atomic.Int64 // until when the server was heard of, in bootNanos; 0 before

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

// dialConn connects, and checks what is there.
func dialConn(ctx context.Context, w *wire) (*conn, error) {
	c, err := dialMode(ctx, w, true)
	if err != nil && (isNoTracking(err) || w.t.o.Password != "" && isServerError(err, "NOAUTH")) {
		c, err = dialMode(ctx, w, false)
	}
	return c, err
}

// dialMode connects with a feed, or without one, in the old protocol: a server that does not
// know HELLO may say of it that the password is missing.
func dialMode(ctx context.Context, w *wire, tracking bool) (*conn, error) {
	ctx, cancel := context.WithTimeout(ctx, w.t.o.DialTimeout)
	defer cancel()
	c := &conn{w: w, room: make(chan struct{}, maxInFlight), gone: make(chan struct{})}
	c.watch = mapWatch{confirmed: never, due: true}
	c.feed.Store(shared.NewFeed())
	stop := context.AfterFunc(ctx, c.kill)
	client, err := rueidis.NewClient(c.options(ctx, tracking))
	c.client = client
	if err == nil {
		c.server, err = c.inspect(ctx, tracking)
	}
	if !stop() && err == nil || ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		c.kill()
		return nil, explain(w, err)
	}
	return c, nil
}

// options are the transport's.
func (c *conn) options(ctx context.Context, tracking bool) rueidis.ClientOption {
	o := c.w.t.o
	option := rueidis.ClientOption{
		InitAddress: []string{c.w.addr}, ForceSingleClient: true, PipelineMultiplex: -1,
		AlwaysPipelining: true, DisableRetry: true,
		Username: o.Username, Password: o.Password,
		RingScaleEachConn: ringScale, ReadBufferEachConn: 64 << 10, WriteBufferEachConn: 64 << 10,
		ConnWriteTimeout: o.DialTimeout, // of the handshake: later the heartbeat watches
		DialCtxFn:        c.dialer(ctx),
		ClientSetInfo:    rueidis.DisableClientSetInfo, // it would take a right that Redis 7.0 does not know
		DisableCache:     !tracking, AlwaysRESP2: !tracking,
	}
	option.Dialer.Timeout = o.DialTimeout
	option.Dialer.KeepAlive = -1
	if tracking {
		option.ClientTrackingOptions = []string{"BCAST", "PREFIX", c.w.t.names.Prefix, "NOLOOP"}
		option.OnInvalidations = c.onPush
		option.NewCacheStoreFn = noStore
	}
	return option
}

// tracked reports whether the connection has a feed.
func (c *conn) tracked() bool { return c.server.tracking || c.w.t.o.CopyTTL > 0 }

// enter waits for room in the transport's ring.
func (c *conn) enter(ctx context.Context) error {
	select {
	case c.room <- struct{}{}:
		return nil
	default:
	}
	select {
	case c.room <- struct{}{}:
		return nil
	case <-c.gone:
		return errLost
	case <-ctx.Done():
		return ctx.Err()
	}
}

// leave gives the room back. That of a request which was not waited for is free when a PONG
// arrives whose PING was sent after it.
func (c *conn) leave(err error) {
	if err == nil {
		<-c.room
		return
	}
	c.abandoned.Add(1)
}

// kill ends the connection: everything that waits for an answer gets an error.
func (c *conn) kill() {
	c.mu.Lock()
	s := c.sock
	lost := c.isLost()
	if !lost {
		close(c.gone)
	}
	c.mu.Unlock()
	if s != nil {
		s.Conn.Close()
	}
	if !lost {
		c.w.onLost(c)
	}
}

// isLost reports whether the connection is over.
func (c *conn) isLost() bool {
	select {
	case <-c.gone:
		return true
	default:
		return false
	}
}

// isNoTracking reports whether a server cannot announce changes, or does not speak RESP3.
func isNoTracking(err error) bool {
	return errors.Is(err, rueidis.ErrNoCache) && !strings.Contains(err.Error(), "NOPERM")
}

// noStore is the transport's own cache, which is not used.
func noStore(rueidis.CacheStoreOption) rueidis.CacheStore { return emptyStore{} }

// mapWatch is when a connection's server has confirmed what it owns. It is of the goroutine that
// sends the heartbeats.
type mapWatch struct {
	confirmed int64 // when the question was sent whose answer did; never before
	due       bool  // the next heartbeat asks, too
	slot      int   // of the key that is read
}
