package remote

import (
	"slices"

	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/remote/internal/slots"
)

// update takes a server's map of the cluster: it makes wires to primaries that are new, gives slots to
// those who own them, under new epochs, and closes wires that are of no use any more.
func (c *cluster) update(from *conn, m *slots.Map) {
	c.mu.Lock()
	p := c.peers[from.w.addr]
	if c.closed || p == nil || p.w != from.w || from.w.state.Load().conn != from {
		c.mu.Unlock()
		return
	}
	p.known = m
	opened := c.open(m)
	begun, changed := c.assign()
	c.dismiss()
	c.tell()
	c.mu.Unlock()
	for _, w := range opened {
		w.start()
	}
	if changed {
		c.t.noteEpoch()
	}
	for _, next := range begun {
		c.adopt(next.w, next.feed)
	}
}

// open makes wires to the primaries of a map.
func (c *cluster) open(m *slots.Map) (opened []*wire) {
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

// assign gives the slots to those who claim them. It reports whether a slot has changed hands.
func (c *cluster) assign() (begun []*tenure, changed bool) {
	moved := changes(strongest(c.claims(), c.owner), func(slot int) *tenure { return c.slots[slot].Load() })
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

// end ends the tenure of slots without a claim.
func (c *cluster) end(slots []int) {
	for _, slot := range slots {
		old := c.slots[slot].Load()
		c.set(slot, &tenure{w: old.w, epoch: old.epoch, over: true, feed: shared.NewFeed()})
	}
}

// adopt has a feed be extended from here on: the store knows that its epoch has begun.
func (c *cluster) adopt(w *wire, f *shared.Feed) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p := c.peers[w.addr]; p != nil && p.w == w {
		p.feeds = append(p.feeds, f)
	}
}

func (c *cluster) owner(slot int) *wire {
	if p := c.slots[slot].Load(); p != nil {
		return p.w
	}
	return nil
}

// set begins a tenure of a slot.
func (c *cluster) set(slot int, next *tenure) {
	c.slots[slot].Store(next)
	if trust := c.t.trust.Load(); trust != nil {
		trust.SetFeed(slot, next.feed)
	}
}

// claims are what the servers say of themselves, by the address that they have for others.
func (c *cluster) claims() (all []claim) {
	for _, p := range c.peers {
		if p.known == nil || !p.known.OK {
			continue
		}
		for _, m := range p.known.Primaries {
			if m.ID == p.known.Self && (m.Addr == p.w.addr || m.Addr == "") && len(m.Slots) > 0 {
				all = append(all, claim{w: p.w, epoch: p.known.Epoch, slots: m.Slots})
			}
		}
	}
	return all
}

// forgetFeeds drops the feeds of tenures that are over everywhere.
func (c *cluster) forgetFeeds() {
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

// dismiss closes wires to servers that own nothing, and that no server lists as a primary.
func (c *cluster) dismiss() {
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
	for slot := range c.slots {
		if p := c.slots[slot].Load(); p != nil {
			listed[p.w.addr] = true
		}
	}
	for addr, p := range c.peers {
		if !listed[addr] && p.guest < bootNanos() {
			delete(c.peers, addr)
			c.t.ends.Go(p.w.close) // not here: the wire's own goroutine may have called
		}
	}
}

// setFeed begins another epoch of all slots that a wire's server owns, when it is connected
// or lost, or its keys may all have changed. A lost one claims nothing. adopt has to follow when
// the store knows.
func (c *cluster) setFeed(w *wire, f *shared.Feed) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.peers[w.addr]
	if p == nil || p.w != w {
		return
	}
	if w.state.Load().conn == nil {
		p.known = nil
	}
	c.tell()
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

// extend has the copies of a connection's slots be trusted until a moment.
func (c *cluster) extend(from *conn, until int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p := c.peers[from.w.addr]; p != nil && p.w == from.w && from.w.state.Load().conn == from {
		for _, f := range p.feeds {
			f.Extend(until)
		}
	}
}

// stamp is that of later requests to a server; 0 if the slot is not its own.
func (c *cluster) stamp(w *wire, slot int) shared.Stamp {
	if p := c.slots[slot].Load(); p != nil && p.w == w && !p.over {
		return p.feed.Stamp(slot)
	}
	return 0
}

// moved is called when a server has answered that a slot which we thought its own is
// elsewhere: the slot's copies are suspect from here on, and all servers have to send their map.
func (c *cluster) moved(w *wire, slot int) {
	c.t.count.moved.Add(1)
	c.mu.Lock()
	p := c.slots[slot].Load()
	mine := p != nil && p.w == w && !p.over
	if mine {
		c.end([]int{slot})
	}
	c.mu.Unlock()
	if mine {
		c.t.noteEpoch()
	}
	c.poke()
}

// seek makes wires to the servers of the options, if no server is connected.
func (c *cluster) seek() {
	c.mu.Lock()
	c.tell()
	for _, p := range c.peers {
		if p.w.state.Load().conn != nil {
			c.mu.Unlock()
			return
		}
	}
	var opened []*wire
	for _, addr := range c.t.o.Addrs {
		if p, fresh := c.peer(addr); fresh {
			opened = append(opened, p.w)
		}
	}
	c.mu.Unlock()
	for _, w := range opened {
		w.start()
	}
}
