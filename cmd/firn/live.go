package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/cmd/firn/replay"
	"github.com/firncache/firn/cmd/firn/replay/command"
	"github.com/firncache/firn/live"
)

// livePage shows the caches of a replay in a browser. A request before there is one waits.
// The caches stay open until the page is closed, so that their last figures can be seen.
// A nil one shows nothing.
type livePage struct {
	url      string
	hosts    []string // see live.Options
	listener net.Listener
	server   *http.Server
	stderr   io.Writer

	caches []live.Named
	closes []func() error // the caches, and what each of them needs

	mu   sync.Mutex
	view *liveView
}

// liveView is the page about the caches that there were at a time.
type liveView struct {
	handler http.Handler
	over    context.Context // ended when there is another cache
	end     context.CancelFunc
}

// openPage listens at an address, for nothing else than this machine if it names no host. An
// empty one opens no page. Its errors are usage errors.
func openPage(address string, stderr io.Writer) (*livePage, error) {
	if address == "" {
		return nil, nil
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, command.Usage(fmt.Errorf("-live %q: want a host and a port, such as :8080 or 0.0.0.0:8080", address))
	}
	p := &livePage{stderr: stderr}
	shown := host
	ip, err := netip.ParseAddr(host)
	switch {
	case host == "":
		host, shown = "127.0.0.1", "127.0.0.1"
	case err == nil && ip.IsUnspecified():
		shown = "localhost"
	case err != nil:
		p.hosts = []string{host}
	}
	if p.listener, err = net.Listen("tcp", net.JoinHostPort(host, port)); err != nil {
		return nil, command.Usage(fmt.Errorf("-live: %w", err))
	}
	_, port, _ = net.SplitHostPort(p.listener.Addr().String())
	p.url = "http://" + net.JoinHostPort(shown, port) + "/"
	p.server = &http.Server{Handler: p, ReadHeaderTimeout: 10 * time.Second, ErrorLog: log.New(stderr, "firn: ", 0)}
	fmt.Fprintf(stderr, "firn: see the cache at %s\n", p.url)
	return p, nil
}

// keep has a function called when the page is closed: at once if there is no page.
func (p *livePage) keep(end func() error) error {
	if p == nil {
		return end()
	}
	p.closes = append(p.closes, end)
	return nil
}

// show adds the cache that open opens to the page, under the name of its trace. Closing it is
// left to the page.
func (p *livePage) show(trace string, open replay.OpenFunc) replay.OpenFunc {
	if p == nil {
		return open
	}
	return func(o replay.StoreOptions) (replay.Store, error) {
		store, err := open(o)
		if err != nil {
			return nil, err
		}
		p.add(command.TraceName(trace), command.CacheOf(store))
		_ = p.keep(store.Close)
		return keptOpen{store}, nil
	}
}

// keptOpen is a store that its owner closes.
type keptOpen struct{ replay.Store }

func (keptOpen) Close() error { return nil }

// add replaces the page by one with one cache more: a viewer reconnects by itself when
// the stream of figures ends, and gets all of them.
func (p *livePage) add(name string, cache *firn.Cache) {
	trace, n := name, 1
	for slices.ContainsFunc(p.caches, func(c live.Named) bool { return c.Name == name }) {
		n++
		name = fmt.Sprintf("%s (%d)", trace, n)
	}
	p.caches = append(p.caches, live.Named{Name: name, Cache: cache})
	next := &liveView{handler: live.New(live.Options{Caches: p.caches, Hosts: p.hosts})}
	next.over, next.end = context.WithCancel(context.Background())
	p.mu.Lock()
	before := p.view
	p.view = next
	p.mu.Unlock()
	if before != nil {
		before.end()
		return
	}
	go func() { _ = p.server.Serve(p.listener) }() // until close
}

// ServeHTTP answers as the page of the caches that there are now.
func (p *livePage) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	view := p.view
	p.mu.Unlock()
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(view.over, cancel)()
	view.handler.ServeHTTP(w, r.WithContext(ctx))
}

// stay keeps the page until ctx ends.
func (p *livePage) stay(ctx context.Context) {
	if p == nil {
		return
	}
	fmt.Fprintf(p.stderr, "firn: the page stays at %s until you interrupt (Ctrl-C)\n", p.url)
	<-ctx.Done()
}

// close ends the page, and then the caches.
func (p *livePage) close() (err error) {
	if p == nil {
		return nil
	}
	err = errors.Join(p.server.Close(), ignoreClosed(p.listener.Close()))
	for _, end := range p.closes {
		err = errors.Join(err, end())
	}
	return err
}

// ignoreClosed is err, unless it says that a listener was closed before, by its server.
func ignoreClosed(err error) error {
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}
