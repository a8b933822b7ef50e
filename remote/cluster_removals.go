package remote

import (
	"context"

	"github.com/redis/rueidis"
)

// keeper is the wire that keeps the removal of a name: the owner's, whose requests are behind it.
// Before there is an owner it is a wire that nobody asks.
func (t *Tier) keeper(name string) *wire {
	if t.cluster != nil {
		if w := t.cluster.owner(slotOf(name)); w != nil {
			return w
		}
	}
	return t.wire
}

// handOver gives the removals that are kept for slots to those who get the slots.
func (c *cluster) handOver(next map[int]*wire) {
	from := map[*wire]bool{c.t.wire: true}
	for slot := range next {
		if w := c.owner(slot); w != nil {
			from[w] = true
		}
	}
	for w := range from {
		if w.removals.kept.Load() == 0 {
			continue
		}
		for _, name := range w.removals.take() {
			to := next[slotOf(name)]
			if to == nil {
				to = c.t.keeper(name)
			}
			to.removals.keep(name)
		}
	}
}

// removeElsewhere sends a kept removal to where the server that was asked has sent it. The
// removals that are kept there do not come first: their sender may be waiting for ours.
func (t *Tier) removeElsewhere(ctx context.Context, name string) error {
	return t.askOwner(ctx, name, func(w *wire, _ int) error {
		cmds := []rueidis.Completed{t.removal(ctx, w, name)}
		if w.via != nil {
			return answersOf(w.via.tryMulti(ctx, withAsking(cmds)))[0].Error()
		}
		return w.tryMulti(ctx, cmds)[0].Error()
	})
}
