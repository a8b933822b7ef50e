package remote_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/firntest"
	"github.com/firncache/firn/remote"
	"github.com/firncache/firn/remote/internal/faultproxy"
	"github.com/firncache/firn/remote/internal/servertest"
)

// node is a cache over a server, behind a proxy.
type node struct {
	*firntest.Cache
	t     *testing.T
	seam  *seam
	proxy *faultproxy.Proxy
}

// bound is short where a test waits for it to be over.
const bound = 200 * time.Millisecond

// newNode makes a cache with an SSD in memory. Its calls are waited for as long as it takes,
// and fail if the server cannot be asked, unless the options say otherwise.
func newNode(t *testing.T, server *servertest.Server, change ...func(*remote.Options)) *node {
	t.Helper()
	return newNodeBehind(t, server, func(*faultproxy.Proxy) {}, change...)
}

// newNodeBehind is newNode with faults from before the tier is opened.
func newNodeBehind(t *testing.T, server *servertest.Server, faults func(*faultproxy.Proxy), change ...func(*remote.Options)) *node {
	t.Helper()
	proxy, err := faultproxy.New(server.Addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.Close)
	faults(proxy)
	o := remote.Options{Addrs: []string{proxy.Addr()}, Namespace: "races", Timeout: time.Minute, Staleness: time.Minute,
		Degraded: remote.DegradedError, Log: slog.New(slog.DiscardHandler)}
	for _, c := range change {
		c(&o)
	}
	tier, err := remote.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	n := &node{t: t, seam: newSeam(tier.Shared()), proxy: proxy}
	n.Cache = firntest.New(t, firntest.SSD(), firntest.Options(func(o *firn.Options) { o.Shared, o.Clock = n.seam, time.Now }))
	n.awaitServer()
	return n
}

func bounded(o *remote.Options)   { o.Staleness = bound }
func impatient(o *remote.Options) { o.Timeout = time.Second }

// two are caches over one server.
func two(t *testing.T, change ...func(*remote.Options)) (server *servertest.Server, a, b *node) {
	t.Helper()
	server = servertest.Start(t, servertest.Options{})
	return server, newNode(t, server, change...), newNode(t, server)
}

// set has to succeed.
func (n *node) set(key, value string) {
	n.t.Helper()
	if err := n.Set([]byte(key), []byte(value)); err != nil {
		n.t.Errorf("Set(%s, %s): %v", key, value, err)
	}
}

// get is a read by all tiers; "" is a miss.
func (n *node) get(key string) string { return n.lookup(context.Background(), key) }

// local is a read by RAM and SSD alone.
func (n *node) local(key string) string {
	return n.lookup(remote.With(context.Background(), remote.Call{SkipShared: true}), key)
}

func (n *node) lookup(ctx context.Context, key string) string {
	n.t.Helper()
	v, err := n.Lookup(ctx, nil, []byte(key))
	if err != nil && !errors.Is(err, firn.ErrNotFound) {
		n.t.Errorf("Lookup(%s): %v", key, err)
	}
	return string(v)
}

// want checks what reads find: local ones this or nothing.
func (n *node) want(key, value string) {
	n.t.Helper()
	if v := n.local(key); v != "" && v != value {
		n.t.Errorf("the local tiers have %q of %s, want %q or nothing", v, key, value)
	}
	if v := n.get(key); v != value {
		n.t.Errorf("Get(%s) = %q, want %q", key, v, value)
	}
}

// copied reads a value, of which there is a trusted copy then: with a new connection, as soon
// as the server has answered twice.
func (n *node) copied(key, value string) {
	n.t.Helper()
	for over := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if v := n.get(key); v != value {
			n.t.Fatalf("Get(%s) = %q, want %q", key, v, value)
		}
		v := n.local(key)
		if v == value {
			return
		}
		if v != "" || time.Now().After(over) {
			n.t.Fatalf("the local tiers have %q of %s, want a copy: %q", v, key, value)
		}
	}
}

// disconnect ends the connection, and keeps another from being made. It returns when the
// tier knows.
func (n *node) disconnect() {
	n.t.Helper()
	before := n.seam.epoch()
	n.proxy.Refuse()
	n.proxy.Reset()
	n.seam.awaitEpoch(before)
}

// reconnect heals the network, and returns when the server answers: each try takes as long
// as its absence and the timeout have it.
func (n *node) reconnect() {
	n.t.Helper()
	n.proxy.Heal()
	n.awaitServer()
}

func (n *node) awaitServer() {
	n.t.Helper()
	past := remote.With(context.Background(), remote.Call{SkipLocal: true})
	for over := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		_, err := n.Lookup(past, nil, []byte("nobody's"))
		if errors.Is(err, firn.ErrNotFound) {
			return
		}
		if time.Now().After(over) {
			n.t.Fatalf("the server does not answer: %v", err)
		}
	}
}

// addr is by which address the server knows the tier's connection.
func (n *node) addr() string {
	n.t.Helper()
	addrs := n.proxy.Addrs()
	if len(addrs) != 1 {
		n.t.Fatalf("connections of %q, want one", addrs)
	}
	return addrs[0]
}

// begin runs something, and returns what waits for its end.
func begin(f func()) (wait func()) {
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	return func() { <-done }
}
