package remote

import (
	"context"

	"github.com/firncache/firn/internal/shared"
)

// Remove removes an entry. If it is to be removed whatever it is, and may not have been, it is
// kept for later.
func (t *Tier) Remove(ctx context.Context, key []byte, expect shared.Expect) error {
	name := t.entryName(key)
	err := t.ask(key, func(w *wire, _ int) error {
		t.count.writes.Add(1)
		if expect.Any {
			return w.serverError(w.do(ctx, t.removal(ctx, w, name)).Error())
		}
		return w.delIf(ctx, name, expect)
	})
	if err != nil && expect.Any {
		t.keepRemoval(name)
	}
	return err
}

// Clear removes every entry that is there.
func (t *Tier) Clear(ctx context.Context) error {
	return t.wire.clear(ctx, globEscape(t.prefix+string(entryKind))+"*")
}
