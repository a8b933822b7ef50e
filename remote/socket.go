package remote

import (
	"context"
	"crypto/tls"
	"net"
	"sync/atomic"
	"time"

	"github.com/redis/rueidis"
)

// socket is the network's side of a connection. Closing it, which the transport does first
// whatever goes wrong, loses the connection.
type socket struct {
	net.Conn
	c *conn
}

// pulse counts the bytes that show a connection to be alive: those that come, and those of long
// values that go. Short ones do not count, as the system takes them also for a network that
// has gone away.
type pulse struct{ atomic.Int64 }

// longWrite is from where on a write is of a long value, and how much of it is written at a time.
const longWrite = 64 << 10

func (s *socket) Read(b []byte) (int, error) {
	n, err := s.Conn.Read(b)
	s.c.pulse.Add(int64(n))
	return n, err
}

func (s *socket) Write(b []byte) (int, error) {
	done := 0
	for len(b)-done > longWrite {
		n, err := s.Conn.Write(b[done : done+longWrite])
		s.c.pulse.Add(int64(n))
		if done += n; err != nil {
			return done, err
		}
	}
	n, err := s.Conn.Write(b[done:])
	return done + n, err
}

func (s *socket) Close() error {
	err := s.Conn.Close()
	s.c.kill()
	return err
}

// dialer makes the one socket of the connection, and refuses another.
func (c *conn) dialer(within context.Context) func(context.Context, string, *net.Dialer, *tls.Config) (net.Conn, error) {
	return func(_ context.Context, addr string, _ *net.Dialer, _ *tls.Config) (net.Conn, error) {
		if c.dialed.Swap(true) {
			return nil, errLost
		}
		raw, err := c.w.t.dial(within, addr)
		if err != nil {
			return nil, err
		}
		s := &socket{Conn: raw, c: c}
		c.mu.Lock()
		lost := c.isLost()
		c.sock = s
		c.mu.Unlock()
		if lost {
			raw.Close()
			return nil, errLost
		}
		return s, nil
	}
}

// dial connects to an address, with TLS if the options say so.
func (t *sharedTier) dial(ctx context.Context, addr string) (net.Conn, error) {
	dial := t.o.Dial
	if dial == nil {
		d := net.Dialer{KeepAlive: -1} // the heartbeat notices sooner
		dial = d.DialContext
	}
	raw, err := dial(ctx, "tcp", addr)
	if err != nil || t.o.TLS == nil {
		return raw, err
	}
	config := t.o.TLS.Clone()
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

// emptyStore is the transport's cache for DoCache, which is not called.
type emptyStore struct{}

func (emptyStore) Flight(string, string, time.Duration, time.Time) (rueidis.RedisMessage, rueidis.CacheEntry) {
	return rueidis.RedisMessage{}, nil
}
func (emptyStore) Update(string, string, rueidis.RedisMessage) int64 { return 0 }
func (emptyStore) Cancel(string, string, error)                      {}
func (emptyStore) Delete([]rueidis.RedisMessage)                     {}
func (emptyStore) Close(error)                                       {}
