package remote

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/remote/internal/servertest"
)

// Errors name the server once, and a cluster only where there is one.
func TestConnectErrors(t *testing.T) {
	const addr = "127.0.0.1:1"
	s := servertest.Start(t, servertest.Options{})
	refuse := func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("the network is down") }
	hang := func(ctx context.Context, _, _ string) (net.Conn, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	var n network
	lost := withoutHeartbeat(t, s.Addr, &n)
	n.set(true)
	lost.wire.onLost(lost.wire.state.Load().conn)
	lost.wire.connect(t.Context())
	for _, c := range []struct {
		name, want string
		tier       *Tier
	}{
		{"never reached", "no server was reached yet: remote: " + addr + ": the network is down", open(t, Options{Dial: refuse}, addr).Tier},
		{"never answered", "no server was reached yet: remote: " + addr + ": no answer within 1ms, Options.DialTimeout", open(t, Options{Dial: hang, DialTimeout: time.Millisecond}, addr).Tier},
		{"not reached again", s.Addr + ": the network is down", lost.Tier},
	} {
		_, err := c.tier.Read(t.Context(), nil, shared.Query{Key: []byte("k")})
		if want := shared.ErrUnavailable.Error() + ": " + c.want; err == nil || err.Error() != want {
			t.Errorf("%s: %v\nwant %s", c.name, err, want)
		}
	}
}
