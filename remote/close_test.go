package remote

import (
	"context"
	"errors"
	"net"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/remote/internal/link"
	"github.com/firncache/firn/remote/internal/servertest"
)

// calls are all that may wait for a server.
func (o opened) calls(ctx context.Context) []func() error {
	k, queries := []byte("k"), make([]shared.Query, 3)
	entry := shared.Entry{Key: k}
	large := shared.Entry{Key: k, Value: []byte(noise(1 << 20))}
	return []func() error{
		func() error { _, err := o.Read(ctx, nil, shared.Query{Key: k}); return err },
		func() error { _, err := o.Read(ctx, nil, shared.Query{Key: k, Have: 1}); return err },
		func() (last error) {
			o.ReadMulti(ctx, queries, func(_ int, _ shared.Found, err error) { last = err })
			return last
		},
		func() error { _, err := o.Write(ctx, entry, shared.Anything); return err },
		func() error { _, err := o.Write(ctx, large, shared.Anything); return err },
		func() error { _, err := o.Write(ctx, entry, shared.Expect{}); return err },
		func() error { return o.Remove(ctx, k, shared.Anything) },
		func() error { return o.Remove(ctx, k, shared.Expect{Version: 1}) },
		func() error { _, err := o.Touch(ctx, k, 0); return err },
		func() error { return o.Clear(ctx) },
		func() error { _, _, err := o.Number(ctx, shared.ID{}, false); return err },
		func() error { _, _, err := o.Number(ctx, shared.ID{}, true); return err },
	}
}

// gone waits until no goroutine of a tier or its transport is left.
func gone(t *testing.T) {
	t.Helper()
	buf := make([]byte, 1<<20)
	for end := time.Now().Add(servertest.Patience); ; runtime.Gosched() {
		var left []string
		for _, g := range strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
			if strings.Contains(g, "rueidis.") || strings.Contains(g, "remote/internal/wire.(*Wire)") || strings.Contains(g, "firn/remote.(*sharedTier).advance") {
				left = append(left, g)
			}
		}
		if len(left) == 0 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%d goroutines are left\n%s", len(left), strings.Join(left, "\n\n"))
		}
	}
}

// Close ends every call that waits for a server which says nothing, and leaves no goroutine.
func TestCloseEndsWaits(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	o := openTuned(t, Options{}, unnoticed, s.Addr)
	o.trusted(t)
	s.Freeze()
	var begun, ended sync.WaitGroup
	for _, call := range o.calls(t.Context()) {
		for range 100 {
			begun.Add(1)
			ended.Go(func() {
				begun.Done()
				if err := call(); !errors.Is(err, shared.ErrUnavailable) {
					t.Errorf("%v: want unavailable", err)
				}
			})
		}
	}
	begun.Wait()
	if err := o.Close(t.Context()); err != nil {
		t.Error(err)
	}
	ended.Wait()
	gone(t)
	for i, call := range o.calls(t.Context()) {
		if err := call(); !errors.Is(err, shared.ErrUnavailable) {
			t.Errorf("call %d after Close: %v: want unavailable", i, err)
		}
	}
	if n := o.store.epochs; n != 0 {
		t.Errorf("told %d times of an epoch that the Close has ended", n)
	}
}

// A context and the timeout end calls, however many have not been answered yet.
func TestWaitsEnd(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	o := openTuned(t, Options{Timeout: 20 * time.Millisecond}, unnoticed, s.Addr)
	o.trusted(t)
	s.Freeze()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var ended sync.WaitGroup
	for i, call := range o.calls(t.Context()) {
		for range 300 { // more than the transport has room for
			ended.Go(func() {
				if err := call(); !errors.Is(err, shared.ErrUnavailable) {
					t.Errorf("call %d: %v: want unavailable", i, err)
				}
			})
		}
	}
	ended.Wait()
	for _, call := range o.calls(ctx) {
		if err := call(); !errors.Is(err, context.Canceled) {
			t.Errorf("%v: want canceled", err)
		}
	}
	if o.store.epochs != 0 {
		t.Error("calls have ended with the connection, not in time")
	}
	s.Thaw()
	o.trusted(t) // the room is there again
	c := o.wire().Conn()
	o.store.wait(t, "of a PONG after all", func() bool { return c.InFlight() == 0 })
}

// Close does not wait for a connection that is being made.
func TestCloseWhileConnecting(t *testing.T) {
	dialing := make(chan struct{}, 1)
	var dials atomic.Int32
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		if dials.Add(1) == 1 {
			return nil, link.ErrLost // that in Open
		}
		dialing <- struct{}{}
		<-ctx.Done()
		return nil, ctx.Err()
	}
	o := open(t, Options{DialTimeout: time.Hour, Dial: dial}, "127.0.0.1:1")
	<-dialing
	o.Close(t.Context())
	gone(t)
}

// Requests that the system takes, and nobody answers, are no sign of life.
func TestSilentServerUnderLoad(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	o := open(t, Options{Staleness: MinStaleness, Timeout: 10 * time.Millisecond}, s.Addr)
	o.trusted(t)
	s.Freeze()
	ctx, stop := context.WithCancel(t.Context())
	var asking sync.WaitGroup
	asking.Go(func() {
		for ctx.Err() == nil {
			o.Read(ctx, nil, shared.Query{Key: []byte("k")})
		}
	})
	o.store.wait(t, "of the silence", func() bool { return o.store.epochs > 0 })
	stop()
	asking.Wait()
}
