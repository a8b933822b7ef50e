package cluster

import (
	"context"
	"errors"
	"fmt"

	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/remote/internal/slots"
	"github.com/firncache/firn/remote/internal/wire"
)

var (
	errNoOwner  = errors.New("no server of the cluster is known to own the slot")
	errNoServer = errors.New("no server was reached yet")
)

// Route is the way to the server that owns a name, and the name's slot. It is looked up again
// after the server has answered that it is not the owner.
func (c *Cluster) Route(ctx context.Context, name string) (w *wire.Wire, slot int, err error) {
	if !c.Single() {
		slot = slots.Of(name)
	}
	w, err = c.route(ctx, slot)
	return w, slot, err
}

// route is the owner of a slot. While no map of a server has come yet, route waits
// for one, for Options.Timeout at most.
func (c *Cluster) route(ctx context.Context, slot int) (*wire.Wire, error) {
	if w := c.owner(slot); w != nil {
		return w, nil
	}
	ctx, cancel := context.WithTimeout(ctx, c.common.Timeout)
	defer cancel()
	for {
		news, learning := c.awaited()
		if w := c.owner(slot); w != nil {
			return w, nil
		}
		if !learning {
			return nil, c.noOwner(slot)
		}
		select {
		case <-news:
		case <-ctx.Done():
			if err := context.Cause(ctx); err != context.DeadlineExceeded {
				return nil, err
			}
			return nil, c.noOwner(slot)
		}
	}
}

// owner is that of a slot, or the last one; nil if it had none yet.
func (c *Cluster) owner(slot int) *wire.Wire {
	if p := c.slots[slot].Load(); p != nil {
		return p.w
	}
	return nil
}

// Owners are the wires to servers that own slots.
func (c *Cluster) Owners() []*wire.Wire {
	seen := map[*wire.Wire]bool{}
	var all []*wire.Wire
	for slot := range c.slots {
		if w := c.owner(slot); w != nil && !seen[w] {
			seen[w] = true
			all = append(all, w)
		}
	}
	return all
}

// Slot is a slot of a wire's server: the one that it was, if it still is.
func (c *Cluster) Slot(w *wire.Wire, last int) (slot int, own bool) {
	for i := range c.slots {
		slot = (last + i) % len(c.slots)
		if p := c.slots[slot].Load(); p.isOf(w) {
			return slot, true
		}
	}
	return 0, false
}

// Known waits until there is an owner to each slot that a server says has one. It fails if there is
// none.
func (c *Cluster) Known(ctx context.Context) error {
	for {
		slot := c.unowned()
		if slot < 0 {
			return nil
		}
		if _, err := c.route(ctx, slot); err != nil {
			return err
		}
	}
}

// unowned is a slot without an owner that a server lists, or any if no server has listed its slots; -1 if
// there is no such.
func (c *Cluster) unowned() (slot int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	told := false
	for _, p := range c.peers {
		if p.known == nil {
			continue
		}
		told = true
		for _, m := range p.known.Primaries {
			for _, r := range m.Slots {
				for slot := r.From; slot <= r.To && slot < len(c.slots); slot++ {
					if c.owner(slot) == nil {
						return slot
					}
				}
			}
		}
	}
	if told || c.owner(0) != nil {
		return -1
	}
	return 0
}

// noOwner says why the slot's owner is not known, if a server could not be reached. Before one
// was, there may be no cluster.
func (c *Cluster) noOwner(slot int) error {
	why := errNoServer
	if c.mapped() {
		why = fmt.Errorf("slot %d: %w", slot, errNoOwner)
	}
	for _, w := range c.Wires() {
		if err := w.Err(); err != nil {
			return fmt.Errorf("%w: %w: %w", shared.ErrUnavailable, why, err)
		}
	}
	return fmt.Errorf("%w: %w", shared.ErrUnavailable, why)
}

// mapped reports whether a server has sent its map of the cluster.
func (c *Cluster) mapped() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range c.peers {
		if p.known != nil {
			return true
		}
	}
	return false
}

// awaited is whether a server's map is, and what is closed when it has come, or cannot.
func (c *Cluster) awaited() (news <-chan struct{}, learning bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range c.peers {
		conn, coming := p.w.Present()
		learning = learning || coming || conn != nil && p.known == nil
	}
	return c.news, learning
}
