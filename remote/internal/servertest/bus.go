package servertest

import (
	"io"
	"net"
	"strconv"
	"sync"
	"testing"
)

// buses are the proxies of the nodes' cluster buses. A node's messages begin with its name, so
// a proxy knows both ends of each connection, and can take a node off the bus.
type buses struct {
	ports, announced []int

	mu    sync.Mutex
	cut   map[int]bool
	links map[*busLink]struct{}
	ended bool
}

// busLink is a connection from a node to another through its proxy.
type busLink struct {
	in, out  net.Conn
	from, to int // from is -1 until the first message
}

// The name of the sender in the header of a message.
const (
	busHeader  = 80
	busName    = 40
	busUnknown = -1
)

func newBuses(t testing.TB, nodes int) *buses {
	t.Helper()
	b := &buses{cut: map[int]bool{}, links: map[*busLink]struct{}{}}
	var wait sync.WaitGroup
	var listeners []net.Listener
	for range nodes {
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		listeners = append(listeners, l)
		b.announced = append(b.announced, l.Addr().(*net.TCPAddr).Port)
		b.ports = append(b.ports, FreePort(t))
	}
	for i, l := range listeners {
		wait.Go(func() { b.accept(l, i, &wait) })
	}
	t.Cleanup(func() {
		for _, l := range listeners {
			l.Close()
		}
		b.closeWhere(func(*busLink) bool { return true }, func() { b.ended = true })
		wait.Wait()
	})
	return b
}

// accept serves a node's proxy.
func (b *buses) accept(l net.Listener, to int, wait *sync.WaitGroup) {
	for {
		in, err := l.Accept()
		if err != nil {
			return
		}
		wait.Go(func() { b.serve(&busLink{in: in, from: busUnknown, to: to}) })
	}
}

// serve passes on one connection, if neither end is cut off, until an end closes it.
func (b *buses) serve(link *busLink) {
	defer link.in.Close()
	out, err := net.Dial("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(b.ports[link.to])))
	if err != nil {
		return
	}
	defer out.Close()
	link.out = out
	if !b.add(link) {
		return
	}
	defer b.remove(link)
	header := make([]byte, busHeader)
	if _, err := io.ReadFull(link.in, header); err != nil || !b.name(link, header[busName:]) {
		return
	}
	if _, err := out.Write(header); err != nil {
		return
	}
	back := make(chan struct{})
	go func() {
		defer close(back)
		_, _ = io.Copy(link.in, out)
		link.in.Close()
	}()
	_, _ = io.Copy(out, link.in)
	out.Close()
	<-back
}

// add notes a connection. It reports false if it may not be.
func (b *buses) add(link *busLink) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended || b.cut[link.to] {
		return false
	}
	b.links[link] = struct{}{}
	return true
}

func (b *buses) remove(link *busLink) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.links, link)
}

// name notes who has sent the first message. It reports false if it is cut off.
func (b *buses) name(link *busLink, sender []byte) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range b.ports {
		if nodeID(i) == string(sender) {
			link.from = i
		}
	}
	return !b.cut[link.from] && !b.cut[link.to]
}

func (b *buses) isCut(i int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.cut[i]
}

// closeWhere changes what is cut, and closes connections.
func (b *buses) closeWhere(which func(*busLink) bool, change func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change()
	for link := range b.links {
		if which(link) {
			link.in.Close()
			link.out.Close()
		}
	}
}

// Cut takes a node off the bus: it does not hear of the others, nor they of it, but clients
// reach it as before.
func (c *Cluster) Cut(s *Server) {
	i := c.index(s)
	c.buses.closeWhere(func(l *busLink) bool { return l.from == i || l.to == i }, func() { c.buses.cut[i] = true })
}

// Heal puts it on again.
func (c *Cluster) Heal(s *Server) {
	i := c.index(s)
	c.buses.closeWhere(func(*busLink) bool { return false }, func() { delete(c.buses.cut, i) })
}
