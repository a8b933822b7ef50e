package main

import (
	"errors"
	"net"
	"sync"
)

// network is what lies between one process and the server. While it is cut, nothing passes, in
// neither direction, and nobody is told: that is what a switch that has lost its power does.
type network struct {
	listener net.Listener
	server   string

	mu     sync.Mutex
	closed bool
	whole  chan struct{} // closed while it is not cut
	conns  map[net.Conn]bool
	ends   sync.WaitGroup
}

// newNetwork is one in front of a server.
func newNetwork(server string) (*network, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	n := &network{listener: l, server: server, whole: make(chan struct{}), conns: map[net.Conn]bool{}}
	close(n.whole)
	n.ends.Go(n.accept)
	return n, nil
}

// addr is where the server is found through the network.
func (n *network) addr() string { return n.listener.Addr().String() }

func (n *network) cut() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.whole = make(chan struct{})
}

func (n *network) heal() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.isCut() {
		close(n.whole)
	}
}

// isCut is called with mu held.
func (n *network) isCut() bool {
	select {
	case <-n.whole:
		return false
	default:
		return true
	}
}

// wait returns when something may pass.
func (n *network) wait() {
	n.mu.Lock()
	whole := n.whole
	n.mu.Unlock()
	<-whole
}

func (n *network) accept() {
	for {
		client, err := n.listener.Accept()
		if err != nil {
			return
		}
		n.ends.Go(func() { n.connect(client) })
	}
}

// connect joins a client to the server until one of them hangs up.
func (n *network) connect(client net.Conn) {
	defer client.Close()
	if !n.add(client) {
		return
	}
	defer n.remove(client)
	n.wait()
	server, err := net.Dial("tcp", n.server)
	if err != nil || !n.add(server) {
		return
	}
	defer n.remove(server)
	n.ends.Go(func() { n.copy(server, client) })
	n.copy(client, server)
}

// copy passes on what src sends, while the network is whole.
func (n *network) copy(dst, src net.Conn) {
	defer dst.Close()
	buf := make([]byte, 32<<10)
	for {
		k, err := src.Read(buf)
		n.wait()
		if _, failed := dst.Write(buf[:k]); err != nil || failed != nil {
			return
		}
	}
}

// add notes a connection. It reports false once the network is closed.
func (n *network) add(c net.Conn) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.conns[c] = !n.closed
	return !n.closed
}

func (n *network) remove(c net.Conn) {
	c.Close()
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.conns, c)
}

// close ends it, also while it is cut.
func (n *network) close() error {
	err := n.listener.Close()
	n.mu.Lock()
	n.closed = true
	if n.isCut() {
		close(n.whole)
	}
	for c := range n.conns {
		err = errors.Join(err, ignoreClosed(c.Close()))
	}
	n.mu.Unlock()
	n.ends.Wait()
	return err
}

func ignoreClosed(err error) error {
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}
