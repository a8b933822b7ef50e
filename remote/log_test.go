package remote_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/remote"
	"github.com/firncache/firn/remote/internal/faultproxy"
	"github.com/firncache/firn/remote/internal/servertest"
)

// stuck is a handler that does not return from its first line, until it is released.
type stuck struct{ begun, release chan struct{} }

func (h stuck) Enabled(context.Context, slog.Level) bool { return true }
func (h stuck) WithAttrs([]slog.Attr) slog.Handler       { return h }
func (h stuck) WithGroup(string) slog.Handler            { return h }
func (h stuck) Handle(context.Context, slog.Record) error {
	select {
	case h.begun <- struct{}{}:
	default:
	}
	<-h.release
	return nil
}

// A handler of log lines that hangs, as one whose disk does, keeps no read and no Shutdown waiting.
func TestLogHandlerHangs(t *testing.T) {
	t.Parallel()
	s := servertest.Start(t, servertest.Options{})
	proxy, err := faultproxy.New(s.Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer proxy.Close()
	h := stuck{make(chan struct{}, 1), make(chan struct{})}
	defer close(h.release)
	tier, err := remote.Open(remote.Options{Addrs: []string{proxy.Addr()}, Namespace: "test", Timeout: 100 * time.Millisecond, Log: slog.New(h)})
	if err != nil {
		t.Fatal(err)
	}
	c, err := firn.Open(firn.Options{RAMBytes: 1 << 20, Shared: tier})
	if err != nil {
		t.Fatal(err)
	}
	<-h.begun // for it is connected
	proxy.Hold(faultproxy.ToClient)
	over := make(chan struct{})
	go func() {
		defer close(over)
		_, _ = c.Lookup(t.Context(), nil, []byte("k"))
		_ = c.Close()
	}()
	select {
	case <-over:
	case <-time.After(servertest.Patience):
		t.Error("a read, or Close, waits for the log")
	}
}
