package cluster

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/firncache/firn/internal/clock"
	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/remote/internal/link"
	"github.com/firncache/firn/remote/internal/slots"
	"github.com/firncache/firn/remote/internal/wire"
)

// Host is what has a cluster, and hears of it.
type Host interface {
	Fits(addr string, s link.Server) error // an error for a server that the tier is not made for
	SetFeed(slot int, f *shared.Feed)      // a slot's epoch begins
	EpochEnded()                           // copies have become suspect
	Pushed(name string)                    // another process has changed what is under a name
	Wrote(name string)                     // this one has
}

// Cluster has a wire to each primary, and knows who owns which slot.
//
// Locks: a wire's mu, then mu.
type Cluster struct {
	Host
	common *wire.Common
	addrs  []string                 // where to begin
	slots  []atomic.Pointer[tenure] // nil: not claimed yet
	moves  atomic.Uint64            // how often slots have changed hands
	sent   atomic.Uint64            // how often a server has sent a request to another one

	mu     sync.Mutex
	closed bool
	peers  map[string]*peer // by address
	news   chan struct{}    // closed when anything is learned
	done   chan struct{}    // closed by Close
	ends   sync.WaitGroup
}

var _ wire.Owner = (*Cluster)(nil)

// peer is a server of the cluster.
type peer struct {
	w     *wire.Wire
	known *slots.Map     // what it said last on the present connection
	feeds []*shared.Feed // of its tenures, which the store knows of
	guest int64          // until when it stays at least, in clock.Boot
}

// guestTime is how long a wire stays to a server that owns nothing: it may be about to.
const guestTime = time.Minute

func newCluster(common *wire.Common, host Host, addrs []string, slots int) *Cluster {
	c := &Cluster{Host: host, common: common, addrs: addrs, slots: make([]atomic.Pointer[tenure], slots)}
	c.peers, c.news, c.done = map[string]*peer{}, make(chan struct{}), make(chan struct{})
	common.Owner = c
	return c
}

// New is a cluster of which some servers are known.
func New(common *wire.Common, host Host, addrs []string) *Cluster {
	return newCluster(common, host, addrs, slots.Count)
}

// Single is a server that is in none.
func Single(common *wire.Common, host Host, addr string) *Cluster {
	c := newCluster(common, host, []string{addr}, 1)
	p, _ := c.peer(addr)
	c.slots[0].Store(&tenure{w: p.w, feed: shared.NewFeed()})
	return c
}

// Start has the servers be connected to.
func (c *Cluster) Start() {
	for _, w := range c.Wires() {
		w.Start()
	}
	c.Unreached()
}

// Close ends all wires.
func (c *Cluster) Close() {
	c.mu.Lock()
	c.closed = true
	close(c.done)
	c.learned()
	c.mu.Unlock()
	for _, w := range c.Wires() {
		w.Close()
	}
	c.ends.Wait()
}

// Slots is how many slots there are.
func (c *Cluster) Slots() int { return len(c.slots) }

// Single reports whether there is only one server, which is in no cluster.
func (c *Cluster) Single() bool { return len(c.slots) == 1 }

// Moves is how often slots have changed hands.
func (c *Cluster) Moves() uint64 { return c.moves.Load() }

// Sent is how often a server has sent a request for a slot that was thought its own to another one.
func (c *Cluster) Sent() uint64 { return c.sent.Load() }

// learned wakes the callers that wait for news. It is called with mu held.
func (c *Cluster) learned() {
	close(c.news)
	c.news = make(chan struct{})
}

// at is the wire to an address, which is made if there is none; nil when the tier is closed.
func (c *Cluster) at(addr string) *wire.Wire {
	c.mu.Lock()
	p, fresh := c.peer(addr)
	c.mu.Unlock()
	if p == nil {
		return nil
	}
	if fresh {
		p.w.Start()
	}
	return p.w
}

// peer is called with mu held. A fresh one's wire is to be started, without mu.
func (c *Cluster) peer(addr string) (p *peer, fresh bool) {
	if c.closed {
		return nil, false
	}
	if p = c.peers[addr]; p == nil {
		p, fresh = &peer{w: wire.New(c.common, addr), guest: clock.Boot() + int64(guestTime)}, true
		c.peers[addr] = p
	}
	return p, fresh
}

// peerOf is a wire's peer, if it has not been dismissed. It is called with mu held.
func (c *Cluster) peerOf(w *wire.Wire) *peer {
	if p := c.peers[w.Addr]; p != nil && p.w == w {
		return p
	}
	return nil
}

// Wires are all wires.
func (c *Cluster) Wires() []*wire.Wire {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := make([]*wire.Wire, 0, len(c.peers))
	for _, p := range c.peers {
		all = append(all, p.w)
	}
	return all
}

// Unreached makes wires to the servers that are known from the beginning, if no server is connected.
func (c *Cluster) Unreached() {
	c.mu.Lock()
	c.learned()
	var opened []*wire.Wire
	if !c.connected() {
		for _, addr := range c.addrs {
			if p, fresh := c.peer(addr); fresh {
				opened = append(opened, p.w)
			}
		}
	}
	c.mu.Unlock()
	for _, w := range opened {
		w.Start()
	}
}

// connected reports whether a server is. It is called with mu held.
func (c *Cluster) connected() bool {
	for _, p := range c.peers {
		if p.w.Conn() != nil {
			return true
		}
	}
	return false
}
