package remote

import (
	"context"
	"testing"

	"github.com/firncache/firn/remote/internal/servertest"
)

// However often a wire is poked, its heartbeat goes on.
func TestPokesDoNotStopHeartbeat(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	o := open(t, Options{}, s.Addr)
	o.trusted(t)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			o.wire().Poke()
		}
	}()
	c := o.wire().Conn()
	for range 3 {
		heard := c.Heard()
		o.store.wait(t, "of a heartbeat", func() bool { return c.Heard() > heard })
	}
	stop()
	<-ended
}
