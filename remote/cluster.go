package remote

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/remote/internal/slots"
)

// cluster is the servers of a cluster: a wire to each primary, and who owns which slot.
//
// A server owns a slot if it says so itself, and that its state is ok; of two that do, the one of
// the higher configuration epoch: what others say of it only leads there. So a wire is connected,
// and has a feed, before it is given slots. Each server sends its map with every other
// heartbeat, and at once when one has answered that a slot is elsewhere; copies of a server's
// slots are trusted while its last map is within the bound, as the last PONG is.
//
// Locks: a wire's mu, then mu.
type cluster struct {
	t     *sharedTier
	slots [slots.Count]atomic.Pointer[tenure] // nil: not claimed yet
	moves atomic.Uint64                       // how often slots have changed hands

	mu     sync.Mutex
	closed bool
	peers  map[string]*peer // by address
	news   chan struct{}    // closed when anything is learned
}

// peer is a server of the cluster.
type peer struct {
	w     *wire
	known *slots.Map     // what it said last on the present connection
	feeds []*shared.Feed // of its tenures, which the store knows of
	guest int64          // until when it stays at least, in bootNanos
}

// guestTime is how long a wire stays to a server that owns nothing: it may be about to.
const guestTime = time.Minute

func newCluster(t *sharedTier) *cluster {
	return &cluster{t: t, peers: map[string]*peer{}, news: make(chan struct{})}
}

var errNoOwner = errors.New("no server of the cluster is known to own the slot")

// route is the owner of a slot. While the servers have yet to be asked who it is, route waits
// until they have been, for Options.Timeout at most.
func (c *cluster) route(ctx context.Context, slot int) (*wire, error) {
	if p := c.slots[slot].Load(); p != nil {
		return p.w, nil
	}
	ctx, cancel := context.WithTimeout(ctx, c.t.o.Timeout)
	defer cancel()
	for {
		told, learning := c.told()
		if p := c.slots[slot].Load(); p != nil {
			return p.w, nil
		}
		if !learning {
			return nil, c.noOwner(slot)
		}
		select {
		case <-told:
		case <-ctx.Done():
			if err := context.Cause(ctx); err != context.DeadlineExceeded {
				return nil, err
			}
			return nil, c.noOwner(slot)
		}
	}
}

var errNoServer = errors.New("no server was reached yet")

// noOwner says why the slot's owner is not known, if a server could not be asked. Before one
// was, there may be no cluster.
func (c *cluster) noOwner(slot int) error {
	why := errNoServer
	if c.mapped() {
		why = fmt.Errorf("slot %d: %w", slot, errNoOwner)
	}
	for _, w := range c.wires() {
		if err := w.state.Load().err; err != nil {
			return fmt.Errorf("%w: %w: %w", shared.ErrUnavailable, why, err)
		}
	}
	return fmt.Errorf("%w: %w", shared.ErrUnavailable, why)
}

// mapped reports whether a server has sent its map of the cluster.
func (c *cluster) mapped() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range c.peers {
		if p.known != nil {
			return true
		}
	}
	return false
}

// told is closed when a server was asked, or could not be; learning says whether one is being.
func (c *cluster) told() (told <-chan struct{}, learning bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range c.peers {
		s := p.w.state.Load()
		learning = learning || s.changed != nil || s.err == errNotConnected || s.conn != nil && p.known == nil
	}
	return c.news, learning
}

// tell is called with mu held.
func (c *cluster) tell() {
	close(c.news)
	c.news = make(chan struct{})
}

// at is the wire to an address, which is made if there is none; nil when the tier is closed.
func (c *cluster) at(addr string) *wire {
	c.mu.Lock()
	p, fresh := c.peer(addr)
	c.mu.Unlock()
	if p == nil {
		return nil
	}
	if fresh {
		p.w.start()
	}
	return p.w
}

// peer is called with mu held. A fresh one's wire is to be started, without mu.
func (c *cluster) peer(addr string) (p *peer, fresh bool) {
	if c.closed {
		return nil, false
	}
	if p = c.peers[addr]; p == nil {
		p, fresh = &peer{w: newWire(c.t, addr), guest: bootNanos() + int64(guestTime)}, true
		c.peers[addr] = p
	}
	return p, fresh
}

// wires are all wires.
func (c *cluster) wires() []*wire {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := make([]*wire, 0, len(c.peers))
	for _, p := range c.peers {
		all = append(all, p.w)
	}
	return all
}

// owners are the wires to servers that own slots.
func (c *cluster) owners() []*wire {
	seen := map[*wire]bool{}
	var all []*wire
	for slot := range c.slots {
		if p := c.slots[slot].Load(); p != nil && !seen[p.w] {
			seen[p.w] = true
			all = append(all, p.w)
		}
	}
	return all
}

// poke requests every server's map at once.
func (c *cluster) poke() {
	for _, w := range c.wires() {
		w.poke()
	}
}

func (c *cluster) close() {
	c.mu.Lock()
	c.closed = true
	c.tell()
	c.mu.Unlock()
	for _, w := range c.wires() {
		w.close()
	}
}
