package remote

import (
	"cmp"
	"context"
	"strings"

	"github.com/firncache/firn/remote/internal/entry"
)

// Clear removes every entry that is there, from all servers: again if slots have moved meanwhile,
// perhaps to one that was done.
func (t *sharedTier) Clear(ctx context.Context) error {
	if err := t.known(ctx); err != nil {
		return err
	}
	for range maxClears {
		before := t.moves()
		for _, w := range t.owners() {
			if err := w.clear(ctx); err != nil {
				return err
			}
		}
		if t.moves() == before {
			break
		}
	}
	return nil
}

// clear removes the entries that a server's SCAN lists, a few hundred at a time.
func (w *wire) clear(ctx context.Context) error {
	entries := w.t.names.Prefix + string(entry.KindEntry)
	for cursor := uint64(0); ; {
		scan, err := w.do(ctx, command("SCAN", itoa(cursor), "MATCH", globEscape(entries)+"*", "COUNT", "512")).AsScanEntry()
		if err != nil {
			return w.serverError(err)
		}
		keys := make([][]byte, len(scan.Elements))
		for i, name := range scan.Elements {
			keys[i] = []byte(strings.TrimPrefix(name, entries))
		}
		w.t.RemoveMulti(ctx, keys, func(_ int, failed error) { err = cmp.Or(err, failed) })
		if cursor = scan.Cursor; cursor == 0 || err != nil {
			return err
		}
	}
}

// maxClears is how often servers are cleared whose slots move all the time.
const maxClears = 8

// moves is how often slots have changed hands.
func (t *sharedTier) moves() uint64 {
	if t.cluster == nil {
		return 0
	}
	return t.cluster.moves.Load()
}

// known waits until there is an owner to each slot that a server of a cluster says has one. It
// fails if there is none: what lies there would stay.
func (t *sharedTier) known(ctx context.Context) error {
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

// unowned is a slot without an owner that a server lists, or any if no server has listed its slots; -1 if
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
		for _, m := range p.known.Primaries {
			for _, r := range m.Slots {
				for slot := r.From; slot <= r.To; slot++ {
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
