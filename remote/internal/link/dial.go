package link

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"strings"

	"github.com/firncache/firn/remote/internal/command"
	"github.com/redis/rueidis"
)

// Dial connects, and checks what is there: with a feed, if the server can have one. Its errors are
// ConnectErrors.
func Dial(ctx context.Context, s *Settings, addr string, events Events) (*Conn, error) {
	c, err := dial(ctx, s, addr, events, true)
	if err != nil && (isNoTracking(err) || s.Password != "" && command.IsError(err, "NOAUTH")) {
		c, err = dial(ctx, s, addr, events, false)
	}
	return c, err
}

// dial connects with a feed, or without one, in the old protocol: a server that does not
// know HELLO may say of it that the password is missing.
func dial(ctx context.Context, s *Settings, addr string, events Events, tracking bool) (*Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, s.DialTimeout)
	defer cancel()
	c := &Conn{Addr: addr, Settings: s, events: events, room: make(chan struct{}, maxInFlight), gone: make(chan struct{})}
	c.watch = mapWatch{confirmed: never, due: true}
	stop := context.AfterFunc(ctx, c.Kill)
	client, err := rueidis.NewClient(c.options(ctx, tracking))
	c.client = client
	if err == nil {
		c.Server, err = c.inspect(ctx)
		c.Server.Tracking = tracking
	}
	if !stop() && err == nil || ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		c.Kill()
		return nil, explain(s, addr, err)
	}
	return c, nil
}

// options are the transport's.
func (c *Conn) options(ctx context.Context, tracking bool) rueidis.ClientOption {
	option := rueidis.ClientOption{
		InitAddress: []string{c.Addr}, ForceSingleClient: true, PipelineMultiplex: -1,
		AlwaysPipelining: true, DisableRetry: true,
		Username: c.Username, Password: c.Password,
		RingScaleEachConn: ringScale, ReadBufferEachConn: 64 << 10, WriteBufferEachConn: 64 << 10,
		ConnWriteTimeout: c.DialTimeout, // of the handshake: later the heartbeat watches
		DialCtxFn:        c.dialer(ctx),
		ClientSetInfo:    rueidis.DisableClientSetInfo, // it would take a right that Redis 7.0 does not know
		DisableCache:     !tracking, AlwaysRESP2: !tracking,
	}
	option.Dialer.Timeout = c.DialTimeout
	option.Dialer.KeepAlive = -1
	if tracking {
		option.ClientTrackingOptions = []string{"BCAST", "PREFIX", c.Names.Prefix, "NOLOOP"}
		option.OnInvalidations = c.onPush
		option.NewCacheStoreFn = noStore
	}
	return option
}

// isNoTracking reports whether a server cannot announce changes, or does not speak RESP3.
func isNoTracking(err error) bool {
	return errors.Is(err, rueidis.ErrNoCache) && !strings.Contains(err.Error(), "NOPERM")
}

// dialer makes the one socket of the connection, and refuses another.
func (c *Conn) dialer(within context.Context) func(context.Context, string, *net.Dialer, *tls.Config) (net.Conn, error) {
	return func(_ context.Context, addr string, _ *net.Dialer, _ *tls.Config) (net.Conn, error) {
		if c.dialed.Swap(true) {
			return nil, ErrLost
		}
		raw, err := c.dial(within, addr)
		if err != nil {
			return nil, err
		}
		s := &socket{Conn: raw, c: c}
		c.mu.Lock()
		lost := c.IsLost()
		c.sock = s
		c.mu.Unlock()
		if lost {
			raw.Close()
			return nil, ErrLost
		}
		return s, nil
	}
}

// dial connects to an address, with TLS if the options say so.
func (c *Conn) dial(ctx context.Context, addr string) (net.Conn, error) {
	dial := c.Dial
	if dial == nil {
		d := net.Dialer{KeepAlive: -1} // the heartbeat notices sooner
		dial = d.DialContext
	}
	raw, err := dial(ctx, "tcp", addr)
	if err != nil || c.TLS == nil {
		return raw, err
	}
	config := c.TLS.Clone()
	if config.ServerName == "" {
		config.ServerName, _, _ = net.SplitHostPort(addr)
	}
	secure := tls.Client(raw, config)
	if err := secure.HandshakeContext(ctx); err != nil {
		raw.Close()
		return nil, err
	}
	return secure, nil
}
