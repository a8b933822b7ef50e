package remote

import (
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/firncache/firn/remote/internal/servertest"
)

// A server that comes up later, and is not what the tier was made for, is refused, and the wire
// to it can be closed; so is the connection that is made while the wire is closed.
func TestRefusedWhenConnected(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	o := Options{Addrs: []string{s.Addr}, Namespace: "test", Log: slog.New(slog.DiscardHandler)}
	closed := newWire(newTier(o), s.Addr)
	closed.close()
	o.Addrs = append(o.Addrs, "127.0.0.1:1") // as if of a cluster
	misfit := newWire(newTier(o), s.Addr)
	var errs [2]error
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		errs[0] = closed.connect(t.Context())
		errs[1] = misfit.connect(t.Context())
		misfit.close()
	}()
	select {
	case <-ended:
	case <-time.After(servertest.Patience):
		t.Fatal("an attempt to connect, or close, does not return")
	}
	if !errors.Is(errs[0], errClosed) {
		t.Errorf("%v: want closed", errs[0])
	}
	if option := (*OptionError)(nil); !errors.As(errs[1], &option) {
		t.Errorf("%v: want an error of Addrs", errs[1])
	}
}
