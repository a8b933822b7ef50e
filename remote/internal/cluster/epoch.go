package cluster

import (
	"slices"

	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/remote/internal/link"
	"github.com/firncache/firn/remote/internal/wire"
)

// Stamp is that of later requests to a server; 0 without a feed, or if the slot is not its own.
func (c *Cluster) Stamp(w *wire.Wire, slot int) shared.Stamp {
	if p := c.slots[slot].Load(); p.isOf(w) && w.HasFeed() {
		return p.feed.Stamp(slot)
	}
	return 0
}

// BeginEpoch begins another epoch of all slots that a wire's server owns, when it is connected
// or lost, or its keys may all have changed. A lost one claims nothing. Adopt has to follow when
// the store knows.
func (c *Cluster) BeginEpoch(w *wire.Wire, f *shared.Feed) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.peerOf(w)
	if p == nil {
		return
	}
	if w.Conn() == nil {
		p.known = nil
	}
	c.learned()
	p.feeds = nil
	tenures := map[*tenure]*tenure{}
	for slot := range c.slots {
		old := c.slots[slot].Load()
		if old == nil || old.w != w {
			continue
		}
		next := tenures[old]
		if next == nil {
			next = &tenure{w: w, epoch: old.epoch, over: old.over, feed: f}
			if old.over {
				next.feed = shared.NewFeed()
			}
			tenures[old] = next
		}
		c.set(slot, next)
	}
}

// Adopt has a feed be extended from here on: the store knows that its epoch has begun.
func (c *Cluster) Adopt(w *wire.Wire, f *shared.Feed) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p := c.peerOf(w); p != nil {
		p.feeds = append(p.feeds, f)
	}
}

// Trusted has the copies of a connection's slots be trusted until a moment.
func (c *Cluster) Trusted(w *wire.Wire, from *link.Conn, until int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p := c.peerOf(w); p != nil && w.Conn() == from {
		for _, f := range p.feeds {
			f.Extend(until)
		}
	}
}

// set begins a tenure of a slot.
func (c *Cluster) set(slot int, next *tenure) {
	c.slots[slot].Store(next)
	c.SetFeed(slot, next.feed)
}

// end ends the tenure of slots without a claim.
func (c *Cluster) end(slots []int) {
	for _, slot := range slots {
		old := c.slots[slot].Load()
		c.set(slot, &tenure{w: old.w, epoch: old.epoch, over: true, feed: shared.NewFeed()})
	}
}

// forgetFeeds drops the feeds of tenures that are over everywhere.
func (c *Cluster) forgetFeeds() {
	used := map[*shared.Feed]bool{}
	for slot := range c.slots {
		if p := c.slots[slot].Load(); p != nil {
			used[p.feed] = true
		}
	}
	for _, p := range c.peers {
		p.feeds = slices.DeleteFunc(p.feeds, func(f *shared.Feed) bool { return !used[f] })
	}
}
