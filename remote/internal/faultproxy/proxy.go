// Package faultproxy is a network that a test breaks: a TCP proxy before a server, whose
// faults hold for present and later connections.
//
//	client ── ToServer ──> Proxy ── ToServer ──> server
//	       <── ToClient ──       <── ToClient ──
//
// A direction that is held is a black hole: bytes, and the end of a connection too, arrive
// when it is released, as they do when a network comes back; a reset destroys them. What is
// given up on one side stays unknown to the other meanwhile.
package faultproxy

import (
	"net"
	"sync"
	"time"
)

// Direction is where bytes are going.
type Direction int

// The directions.
const (
	ToServer Direction = iota
	ToClient
	directions
)

// Proxy stands before one server. It is safe for concurrent use.
type Proxy struct {
	server   string
	listener net.Listener
	running  sync.WaitGroup

	mu      sync.Mutex
	changed chan struct{} // closed, and made anew, when a fault changes
	links   map[*link]struct{}
	lanes   [directions]lane
	refuse  bool
	closed  bool
}

// lane is what a direction suffers.
type lane struct {
	held     bool
	delay    time.Duration
	trigger  string        // has the direction held from the bytes that contain it
	reached  chan struct{} // closed when they come
	cut      int           // how many bytes pass before a reset; 0: all
	from, to string        // bytes that are replaced
}

// New starts a proxy before a server's address.
func New(server string) (*Proxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{server: server, listener: listener, changed: make(chan struct{}), links: map[*link]struct{}{}}
	p.running.Go(p.accept)
	return p, nil
}

// Addr is where clients connect.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Close resets all connections, and ends when nothing of the proxy is left.
func (p *Proxy) Close() {
	p.change(func() { p.closed = true })
	_ = p.listener.Close()
	p.Reset()
	p.running.Wait()
}

// change changes faults, and lets those look again who wait.
func (p *Proxy) change(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f()
	close(p.changed)
	p.changed = make(chan struct{})
}

// Hold makes a direction a black hole.
func (p *Proxy) Hold(d Direction) { p.change(func() { p.lanes[d].held = true }) }

// HoldFrom is Hold from the bytes on that contain a text, which have come when the channel
// is closed.
func (p *Proxy) HoldFrom(d Direction, text string) (reached <-chan struct{}) {
	c := make(chan struct{})
	p.change(func() { p.lanes[d].trigger, p.lanes[d].reached = text, c })
	return c
}

// Delay has bytes take so long.
func (p *Proxy) Delay(d Direction, by time.Duration) { p.change(func() { p.lanes[d].delay = by }) }

// Cut resets a connection when so many bytes more have passed, which may be within a frame.
func (p *Proxy) Cut(d Direction, after int) { p.change(func() { p.lanes[d].cut = after }) }

// Replace has a text arrive as another, of the same length: a server that does not know a
// command, if the text is its name.
func (p *Proxy) Replace(d Direction, from, to string) {
	p.change(func() { p.lanes[d].from, p.lanes[d].to = from, to })
}

// Refuse has connections be reset as soon as they are made.
func (p *Proxy) Refuse() { p.change(func() { p.refuse = true }) }

// Accept ends Refuse alone.
func (p *Proxy) Accept() { p.change(func() { p.refuse = false }) }

// Heal ends all faults. What was held arrives.
func (p *Proxy) Heal() { p.change(func() { p.refuse, p.lanes = false, [directions]lane{} }) }

// Reset resets the present connections, and returns how many they were.
func (p *Proxy) Reset() (n int) {
	p.mu.Lock()
	links := p.links
	p.links = map[*link]struct{}{}
	p.mu.Unlock()
	for l := range links {
		l.reset()
	}
	return len(links)
}

// Connections is how many there are.
func (p *Proxy) Connections() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.links)
}

// Addrs are the addresses by which the server knows its connections.
func (p *Proxy) Addrs() (addrs []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.links {
		l.mu.Lock()
		if l.server != nil {
			addrs = append(addrs, l.server.LocalAddr().String())
		}
		l.mu.Unlock()
	}
	return addrs
}
