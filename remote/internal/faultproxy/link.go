package faultproxy

import (
	"bytes"
	"net"
	"sync"
	"time"
)

// link is one connection of a client, and the proxy's own to the server.
type link struct {
	client net.Conn
	over   chan struct{} // closed by reset
	once   sync.Once

	mu     sync.Mutex
	server net.Conn
}

// reset ends both connections at once: what is under way is lost.
func (l *link) reset() {
	l.once.Do(func() {
		close(l.over)
		l.mu.Lock()
		defer l.mu.Unlock()
		for _, c := range []net.Conn{l.client, l.server} {
			if tcp, ok := c.(*net.TCPConn); ok {
				_ = tcp.SetLinger(0)
				_ = tcp.Close()
			}
		}
	})
}

// connect makes the connection to the server.
func (l *link) connect(server string) (net.Conn, error) {
	c, err := net.Dial("tcp", server)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-l.over:
		_ = c.Close()
		return nil, net.ErrClosed
	default:
		l.server = c
		return c, nil
	}
}

func (p *Proxy) accept() {
	for {
		c, err := p.listener.Accept()
		if err != nil {
			return
		}
		l := &link{client: c, over: make(chan struct{})}
		p.mu.Lock()
		refused := p.refuse || p.closed
		if !refused {
			p.links[l] = struct{}{}
		}
		p.mu.Unlock()
		if refused {
			l.reset()
			continue
		}
		p.running.Go(func() { p.serve(l) })
	}
}

// serve carries a connection until it ends. The server hears of it when the way there is
// open.
func (p *Proxy) serve(l *link) {
	defer func() {
		l.reset()
		p.mu.Lock()
		delete(p.links, l)
		p.mu.Unlock()
	}()
	if _, ok := p.pass(l, ToServer, nil); !ok {
		return
	}
	server, err := l.connect(p.server)
	if err != nil {
		return
	}
	var both sync.WaitGroup
	both.Go(func() { p.carry(l, ToServer, server, l.client) })
	both.Go(func() { p.carry(l, ToClient, l.client, server) })
	both.Wait()
}

// carry copies one direction until it ends, and tells the other side so.
func (p *Proxy) carry(l *link, d Direction, to, from net.Conn) {
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		b, ok := p.pass(l, d, buf[:n])
		if _, failed := to.Write(b); failed != nil || !ok {
			l.reset()
			return
		}
		if err != nil {
			_ = to.(*net.TCPConn).CloseWrite()
			return
		}
	}
}

// pass waits until bytes may go on, and returns those that arrive. Without ok the connection
// ends there.
func (p *Proxy) pass(l *link, d Direction, b []byte) (arrive []byte, ok bool) {
	if delay := p.delayOf(d); delay > 0 {
		select {
		case <-time.After(delay):
		case <-l.over:
			return nil, false
		}
	}
	for {
		p.mu.Lock()
		lane, changed := &p.lanes[d], p.changed
		if lane.trigger != "" && bytes.Contains(b, []byte(lane.trigger)) {
			close(lane.reached)
			lane.trigger, lane.held = "", true
		}
		if !lane.held {
			b, ok = lane.apply(b)
			p.mu.Unlock()
			return b, ok
		}
		p.mu.Unlock()
		select {
		case <-changed:
		case <-l.over:
			return nil, false
		}
	}
}

func (p *Proxy) delayOf(d Direction) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lanes[d].delay
}

// apply does to bytes that go on what the lane does to them.
func (l *lane) apply(b []byte) (arrive []byte, ok bool) {
	if l.from != "" {
		b = bytes.ReplaceAll(b, []byte(l.from), []byte(l.to))
	}
	switch {
	case l.cut == 0 || len(b) == 0:
		return b, true
	case l.cut > len(b):
		l.cut -= len(b)
		return b, true
	}
	b, l.cut = b[:l.cut], 0
	return b, false
}
