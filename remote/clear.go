package remote

import (
	"context"

	"github.com/redis/rueidis"
)

// clear removes the keys that a pattern matches, of which a server's SCAN tells a few hundred at a
// time.
func (w *wire) clear(ctx context.Context, pattern string) error {
	for cursor := uint64(0); ; {
		entry, err := w.do(ctx, command("SCAN", itoa(cursor), "MATCH", pattern, "COUNT", "512")).AsScanEntry()
		if err != nil {
			return w.serverError(err)
		}
		if err := w.unlink(ctx, entry.Elements); err != nil {
			return err
		}
		if cursor = entry.Cursor; cursor == 0 {
			return nil
		}
	}
}

// unlink removes keys, each with a command of its own: they may be of several slots.
func (w *wire) unlink(ctx context.Context, names []string) error {
	for len(names) > 0 {
		n := min(len(names), maxBatch)
		cmds := make([]rueidis.Completed, n)
		for i, name := range names[:n] {
			cmds[i] = command("UNLINK", name)
		}
		for i, err := range w.outcomes(ctx, cmds) {
			if isRedirect(err) {
				err = w.t.unlink(ctx, names[i])
			}
			if err != nil {
				return err
			}
		}
		names = names[n:]
	}
	return nil
}

// unlink removes a key, wherever it is.
func (t *Tier) unlink(ctx context.Context, name string) error {
	return t.askOwner(ctx, name, func(w *wire, _ int) error {
		return w.serverError(w.do(ctx, command("UNLINK", name)).Error())
	})
}

// clear removes the keys that a pattern matches from all servers: again if slots have moved
// meanwhile, perhaps to one that was done.
func (t *Tier) clear(ctx context.Context, pattern string) error {
	if err := t.known(ctx); err != nil {
		return err
	}
	for range maxClears {
		before := t.moves()
		for _, w := range t.owners() {
			if err := w.clear(ctx, pattern); err != nil {
				return err
			}
		}
		if t.moves() == before {
			break
		}
	}
	return nil
}

// maxClears is how often servers are cleared whose slots move all the time.
const maxClears = 8

// moves is how often slots have changed hands.
func (t *Tier) moves() uint64 {
	if t.cluster == nil {
		return 0
	}
	return t.cluster.moves.Load()
}

// known waits until there is an owner to each slot that a server of a cluster says has one. It
// fails if there is none: what lies there would stay.
func (t *Tier) known(ctx context.Context) error {
	if t.cluster == nil {
		return nil
	}
	for {
		slot := t.cluster.unowned()
		if slot < 0 {
			return nil
		}
		if _, err := t.cluster.route(ctx, slot); err != nil {
			return err
		}
	}
}

// unowned is a slot without an owner that a server lists, or any if none has been asked; -1 if
// there is no such.
func (c *cluster) unowned() (slot int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	told := false
	for _, p := range c.peers {
		if p.known == nil {
			continue
		}
		told = true
		for _, m := range p.known.primaries {
			for _, r := range m.slots {
				for slot := r.from; slot <= r.to; slot++ {
					if c.slots[slot].Load() == nil {
						return slot
					}
				}
			}
		}
	}
	if told || c.slots[0].Load() != nil {
		return -1
	}
	return 0
}
