package remote

import (
	"context"

	"github.com/firncache/firn/internal/shared"
)

// Remove removes an entry.
func (t *Tier) Remove(ctx context.Context, key []byte, expect shared.Expect) error {
	return t.ask(key, func(w *wire, _ int) error {
		t.count.writes.Add(1)
		if !expect.Any {
			return w.delIf(ctx, t.entryName(key), expect)
		}
		return w.serverError(w.do(ctx, command("UNLINK", t.entryName(key))).Error())
	})
}

// Clear removes every entry that is there.
func (t *Tier) Clear(ctx context.Context) error {
	return t.wire.clear(ctx, globEscape(t.prefix+string(entryKind))+"*")
}
