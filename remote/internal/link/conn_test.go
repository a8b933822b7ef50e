package link

import (
	"context"
	"log/slog"
	"net"
	"testing"
	"time"

	"github.com/firncache/firn/internal/loglines"
	"github.com/firncache/firn/remote/internal/command"
	"github.com/firncache/firn/remote/internal/entry"
	"github.com/firncache/firn/remote/internal/servertest"
)

// A connection that is lost does not come back behind the feed's back.
func TestConnectionDialsOnce(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	dials := 0
	c, err := Dial(t.Context(), &Settings{
		DialTimeout: servertest.Patience, Rhythm: RhythmOf(time.Second), Names: entry.Names{Prefix: "test:"}, Log: loglines.To(slog.New(slog.DiscardHandler)),
		Dial: func(_ context.Context, network, addr string) (net.Conn, error) {
			dials++
			return net.Dial(network, addr)
		},
	}, s.Addr, unheard{})
	if err != nil {
		t.Fatal(err)
	}
	c.Kill()
	if err := c.client.Do(t.Context(), command.New("PING")).Error(); err == nil || dials != 1 {
		t.Errorf("%d dials, %v: want one", dials, err)
	}
}
