package remote_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/remote/internal/faultproxy"
)

// Close ends what waits for the network, wherever it waits, and nothing is left running.
func TestCloseWhileWaiting(t *testing.T) {
	load := func(context.Context, []byte) ([]byte, error) { return []byte("loaded"), nil }
	ctx := context.Background()
	for name, call := range map[string]func(c *firn.Cache) error{
		"Lookup": func(c *firn.Cache) error { _, err := c.Lookup(ctx, nil, []byte("wait")); return err },
		"Get": func(c *firn.Cache) error {
			if _, ok := c.Get(nil, []byte("wait")); ok {
				return nil
			}
			return firn.ErrClosed
		},
		"LookupMulti": func(c *firn.Cache) error {
			var b firn.Batch
			return c.GetMulti(ctx, &b, [][]byte{[]byte("wait"), []byte("waits")})
		},
		"Set":       func(c *firn.Cache) error { return c.Set([]byte("wait"), []byte("value")) },
		"SetMulti":  func(c *firn.Cache) error { return c.SetMulti(ctx, [][]byte{[]byte("wait")}, [][]byte{[]byte("value")}) },
		"Delete":    func(c *firn.Cache) error { return c.Delete([]byte("wait")) },
		"Touch":     func(c *firn.Cache) error { _, err := c.Touch(ctx, []byte("wait"), firn.Forever); return err },
		"Increment": func(c *firn.Cache) error { _, err := c.Increment(ctx, []byte("wait"), 1); return err },
		"GetOrLoad": func(c *firn.Cache) error { _, err := c.GetOrLoad(ctx, nil, []byte("wait"), load); return err },
	} {
		t.Run(name, func(t *testing.T) {
			_, a, _ := two(t)
			a.set("before", "value")
			reached := a.proxy.HoldFrom(faultproxy.ToServer, "wait")
			var err error
			wait := begin(func() { err = call(a.Cache.Cache) })
			<-reached
			if err := a.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
			wait()
			if !errors.Is(err, firn.ErrClosed) && !errors.Is(err, firn.ErrSharedUnavailable) {
				t.Errorf("%s: %v, want %v or %v", name, err, firn.ErrClosed, firn.ErrSharedUnavailable)
			}
		})
	}
}

// Close ends a wait for another's load, and one for a server that is gone.
func TestCloseWhileAnotherLoads(t *testing.T) {
	_, a, b := two(t)
	loading, end := make(chan struct{}), make(chan struct{})
	other := begin(func() {
		_, err := b.GetOrLoad(context.Background(), nil, []byte(key), func(context.Context, []byte) ([]byte, error) {
			close(loading)
			<-end
			return []byte("loaded"), nil
		})
		if err != nil {
			t.Errorf("GetOrLoad: %v", err)
		}
	})
	<-loading
	held := a.seam.hold(leased)
	wait := begin(func() {
		_, _ = a.GetOrLoad(context.Background(), nil, []byte(key), func(context.Context, []byte) ([]byte, error) {
			return []byte("loaded too"), nil
		})
	})
	<-held.reached
	close(held.release)
	if err := a.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	wait()
	close(end)
	other()
}

func TestCloseWithoutServer(t *testing.T) {
	_, a, _ := two(t)
	a.set(key, "value")
	a.disconnect()
	if err := a.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
}

// A connection that is being made, of which nothing is heard, does not hold Close up.
func TestCloseWhileConnecting(t *testing.T) {
	_, a, _ := two(t)
	a.disconnect()
	reached := a.proxy.HoldFrom(faultproxy.ToServer, "HELLO")
	a.proxy.Accept()
	<-reached
	if err := a.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
}

// Nothing of a tier runs when its cache is closed, whatever it went through.
func TestNothingRunsAfterClose(t *testing.T) {
	for name, suffer := range map[string]func(a *node){
		"nothing":     func(*node) {},
		"resets":      func(a *node) { a.disconnect(); a.reconnect() },
		"no server":   func(a *node) { a.disconnect() },
		"black hole":  func(a *node) { a.proxy.Hold(faultproxy.ToClient) },
		"cut in half": func(a *node) { a.proxy.Cut(faultproxy.ToClient, 3); _, _ = a.Get(nil, []byte("cut")); a.reconnect() },
	} {
		t.Run(name, func(t *testing.T) {
			_, a, b := two(t, impatient)
			b.set(key, "value")
			a.copied(key, "value")
			suffer(a)
			for _, n := range []*node{a, b} {
				if err := n.Close(); err != nil {
					t.Errorf("Close: %v", err)
				}
			}
			for over := time.Now().Add(time.Minute); ; runtime.Gosched() {
				left := running()
				if len(left) == 0 {
					return
				}
				if time.Now().After(over) {
					t.Fatalf("%d goroutines are left:\n%s", len(left), strings.Join(left, "\n\n"))
				}
			}
		})
	}
}

// running are the goroutines of tiers and of their connections.
func running() (stacks []string) {
	b := make([]byte, 1<<20)
	for stack := range strings.SplitSeq(string(b[:runtime.Stack(b, true)]), "\n\n") {
		if strings.Contains(stack, "firn/remote.(*") || strings.Contains(stack, "/rueidis.") {
			stacks = append(stacks, stack)
		}
	}
	return stacks
}
