package link

import (
	"errors"
	"net"
	"sync/atomic"
	"time"

	"github.com/redis/rueidis"
)

// socket is the network's side of a connection. Closing it, which the transport does first
// whatever goes wrong, loses the connection.
type socket struct {
	net.Conn
	c *Conn
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

// Write returns an alert that has come, in place of the end of the connection that it led to: in TLS 1.3 a
// server refuses a client's certificate after the handshake.
func (s *socket) Write(b []byte) (int, error) {
	n, err := s.write(b)
	if err != nil && s.c.pulse.Load() == 0 { // before the first read
		_ = s.SetReadDeadline(time.Now().Add(alertTime))
		if _, said := s.Conn.Read(make([]byte, 1)); isAlert(said) {
			err = said
		}
	}
	return n, err
}

// alertTime is the most that is waited for an alert after a write that failed. One that led to the
// failure is there.
const alertTime = time.Second

// isAlert reports whether the server has ended a TLS connection, and said why. The type of what it says
// is crypto/tls's own.
func isAlert(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "remote error"
}

func (s *socket) write(b []byte) (int, error) {
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
	s.c.Kill()
	return err
}

// noStore is the transport's own cache, which is not used.
func noStore(rueidis.CacheStoreOption) rueidis.CacheStore { return emptyStore{} }

// emptyStore is a cache for DoCache, which is not called; only its other methods are.
type emptyStore struct{ rueidis.CacheStore }

func (emptyStore) Delete([]rueidis.RedisMessage) {}
func (emptyStore) Close(error)                   {}
