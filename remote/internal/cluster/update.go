package cluster

import (
	"github.com/firncache/firn/internal/clock"
	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/remote/internal/link"
	"github.com/firncache/firn/remote/internal/slots"
	"github.com/firncache/firn/remote/internal/wire"
)

// Map takes a server's map of the cluster: it makes wires to primaries that are new, gives slots to
// their owners, under new epochs, and closes wires that are of no use any more.
func (c *Cluster) Map(w *wire.Wire, from *link.Conn, m *slots.Map) {
	c.mu.Lock()
	p := c.peerOf(w)
	if c.closed || p == nil || w.Conn() != from {
		c.mu.Unlock()
		return
	}
	p.known = m
	opened := c.open(m)
	begun, changed := c.assign()
	c.dismiss()
	c.learned()
	c.mu.Unlock()
	for _, w := range opened {
		w.Start()
	}
	if changed {
		c.EpochEnded()
	}
	for _, next := range begun {
		c.Adopt(next.w, next.feed)
	}
}

// open makes wires to the primaries of a map.
func (c *Cluster) open(m *slots.Map) (opened []*wire.Wire) {
	for _, member := range m.Primaries {
		if member.Addr == "" {
			continue
		}
		if p, fresh := c.peer(member.Addr); fresh {
			opened = append(opened, p.w)
		}
	}
	return opened
}

// assign gives the slots to the servers that claim them. It reports whether a slot has changed hands.
func (c *Cluster) assign() (begun []*tenure, changed bool) {
	best := strongest(c.claims(), len(c.slots), c.owner)
	moved := changes(best, func(slot int) *tenure { return c.slots[slot].Load() })
	for won, slots := range moved {
		if won == nil {
			c.end(slots)
			changed = true
			continue
		}
		next := &tenure{w: won.w, epoch: won.epoch, feed: shared.NewFeed()}
		for _, slot := range slots {
			changed = changed || c.slots[slot].Load() != nil
			c.set(slot, next)
		}
		begun = append(begun, next)
	}
	if len(moved) > 0 {
		c.moves.Add(1)
		c.forgetFeeds()
	}
	return begun, changed
}

// claims are what the servers say of themselves, by the address that they have for others.
func (c *Cluster) claims() (all []claim) {
	for _, p := range c.peers {
		if p.known == nil || !p.known.OK {
			continue
		}
		for _, m := range p.known.Primaries {
			if m.ID == p.known.Self && (m.Addr == p.w.Addr || m.Addr == "") && len(m.Slots) > 0 {
				all = append(all, claim{w: p.w, epoch: p.known.Epoch, slots: m.Slots})
			}
		}
	}
	return all
}

// dismiss closes wires to servers that own nothing, and that no server lists as a primary.
func (c *Cluster) dismiss() {
	listed, told := map[string]bool{}, false
	for _, p := range c.peers {
		if p.known != nil && p.known.OK {
			told = true
			for _, m := range p.known.Primaries {
				listed[m.Addr] = true
			}
		}
	}
	if !told {
		return
	}
	for _, w := range c.Owners() {
		listed[w.Addr] = true
	}
	for addr, p := range c.peers {
		if !listed[addr] && p.guest < clock.Boot() {
			delete(c.peers, addr)
			c.ends.Go(p.w.Close) // not here: the wire's own goroutine may have called
		}
	}
}
