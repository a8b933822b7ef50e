package remote

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"testing"
	"time"

	"github.com/firncache/firn/remote/internal/servertest"
)

// beatless is a connection that is over when the first heartbeat is sent.
type beatless struct{ net.Conn }

func (c beatless) Write(b []byte) (int, error) {
	if bytes.HasPrefix(b, []byte("*4\r\n$8\r\nGETRANGE\r\n$6\r\ntest:t\r\n")) {
		return 0, net.ErrClosed
	}
	return c.Conn.Write(b)
}

// A server that ends each connection as soon as it is made, or has answered heartbeats, is not
// connected to without a pause.
func TestPauseAfterShortConnections(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	for name, heard := range map[string]bool{"made": false, "heard of": true} {
		t.Run(name, func(t *testing.T) { pauses(t, s.Addr, heard) })
	}
}

func pauses(t *testing.T, addr string, heard bool) {
	const connections = 8
	dialed := make(chan struct{}, connections)
	tier := newTier(Options{Addrs: []string{addr}, Namespace: "test", Log: slog.New(slog.DiscardHandler),
		Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
			select {
			case dialed <- struct{}{}:
			default:
			}
			c, err := new(net.Dialer).DialContext(ctx, network, addr)
			if err == nil && !heard {
				c = beatless{c}
			}
			return c, err
		}})
	tier.common.AfterPong = func() { lose(tier) }
	defer tier.Close(t.Context())
	if _, err := tier.Open(newStore()); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	for range connections {
		<-dialed
	}
	// The first is that of Open, and the second has no pause before it.
	if took, least := time.Since(began), (connections-2)*tier.common.Rhythm.MinRetry/2; took < least {
		t.Errorf("%d connections in %v: want %v at least", connections, took, least)
	}
}
