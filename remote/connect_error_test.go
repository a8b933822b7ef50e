package remote

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/remote/internal/servertest"
)

// lose ends the connection, if the network has not.
func lose(t *sharedTier) {
	if c := t.wire().Conn(); c != nil {
		c.Kill()
	}
}

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
	lose(lost.sharedTier)
	lost.wire().Connect(t.Context())
	for _, c := range []struct {
		name, want string
		tier       *sharedTier
	}{
		{"never reached", "no server was reached yet: remote: " + addr + ": the network is down", open(t, Options{Dial: refuse}, addr).sharedTier},
		{"never answered", "no server was reached yet: remote: " + addr + ": no answer within 1ms, Options.DialTimeout", open(t, Options{Dial: hang, DialTimeout: time.Millisecond}, addr).sharedTier},
		{"not reached again", s.Addr + ": the network is down", lost.sharedTier},
	} {
		_, err := c.tier.Read(t.Context(), nil, shared.Query{Key: []byte("k")})
		if want := shared.ErrUnavailable.Error() + ": " + c.want; err == nil || err.Error() != want {
			t.Errorf("%s: %v\nwant %s", c.name, err, want)
		}
	}
}

// quietly is a log into a text, which is read when the tier is closed.
func quietly(to *strings.Builder) *slog.Logger { return slog.New(slog.NewTextHandler(to, nil)) }

// An outage is logged also if it has the cause of the one before.
func TestSecondOutageIsLogged(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	var log strings.Builder
	var n network
	o := newTier(Options{Addrs: []string{s.Addr}, Namespace: "test", Dial: n.dial, Log: quietly(&log)})
	t.Cleanup(func() { o.Close(context.Background()) })
	for range 2 {
		n.set(true)
		if o.wire().Connect(t.Context()) == nil {
			t.Fatal("connected")
		}
		n.set(false)
		if err := o.wire().Connect(t.Context()); err != nil {
			t.Fatal(err)
		}
		lose(o)
	}
	o.log.Wait(t.Context(), servertest.Patience)
	if n := strings.Count(log.String(), "cannot connect"); n != 2 {
		t.Errorf("%d of 2 outages are logged:\n%s", n, log.String())
	}
}

// An error that differs from one before in the port of this end, or in the call that found it, is
// not logged again, also if there was another one in between.
func TestConnectErrorsLoggedOnce(t *testing.T) {
	var log strings.Builder
	port, says := 0, "reset"
	fail := func(context.Context, string, string) (net.Conn, error) {
		port++
		return nil, &net.OpError{Op: []string{"read", "write", "dial"}[port%3], Net: "tcp", Err: fmt.Errorf("10.0.0.1:%d: %s", port, says)}
	}
	o := newTier(Options{Addrs: []string{"10.0.0.2:6379"}, Namespace: "test", Dial: fail, Log: slog.New(slog.NewTextHandler(&log, nil))})
	t.Cleanup(func() { o.Close(context.Background()) })
	for _, says = range []string{"reset", "reset", "refused", "refused", "reset", "refused"} {
		if o.wire().Connect(t.Context()) == nil {
			t.Fatal("connected")
		}
	}
	o.log.Wait(t.Context(), servertest.Patience)
	if n := strings.Count(log.String(), "cannot connect"); n != 2 {
		t.Errorf("%d lines: want 2, for 2 errors\n%s", n, &log)
	}
}
