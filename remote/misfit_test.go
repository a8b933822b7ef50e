package remote

import (
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/firncache/firn/remote/internal/servertest"
	"github.com/firncache/firn/remote/internal/wire"
)

// A server that comes up later, and is not what the tier was made for, is refused, and the wire
// to it can be closed; so is the connection that is made while the wire is closed.
func TestRefusedWhenConnected(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	o := Options{Addrs: []string{s.Addr}, Namespace: "test", Log: slog.New(slog.DiscardHandler)}
	closed := wire.New(newTier(o).common, s.Addr)
	closed.Close()
	o.Addrs = append(o.Addrs, "127.0.0.1:1") // as if of a cluster
	misfit := wire.New(newTier(o).common, s.Addr)
	var errs [2]error
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		errs[0] = closed.Connect(t.Context())
		errs[1] = misfit.Connect(t.Context())
		misfit.Close()
	}()
	select {
	case <-ended:
	case <-time.After(servertest.Patience):
		t.Fatal("an attempt to connect, or close, does not return")
	}
	if !errors.Is(errs[0], wire.ErrClosed) {
		t.Errorf("%v: want closed", errs[0])
	}
	if option := (*OptionError)(nil); !errors.As(errs[1], &option) {
		t.Errorf("%v: want an error of Addrs", errs[1])
	}
}
