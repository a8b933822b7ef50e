package remote

import (
	"context"

	"github.com/firncache/firn/internal/shared"
)

// Remove removes an entry. If it is to be removed whatever it is, and may not have been, it is
// kept for later.
func (t *Tier) Remove(ctx context.Context, key []byte, expect shared.Expect) error {
	name := t.entryName(key)
	err := t.askOwner(ctx, name, func(w *wire, _ int) error {
		t.count.writes.Add(1)
		if expect.Any {
			return w.remove(ctx, name)
		}
		return w.delIf(ctx, name, expect)
	})
	if err != nil && expect.Any {
		t.keepRemoval(name)
	}
	return err
}

// remove removes a name whatever there is. A server that has no memory for what is to remember
// it, forgets it without.
func (w *wire) remove(ctx context.Context, name string) error {
	err := w.do(ctx, w.t.removal(ctx, w, name)).Error()
	if isServerError(err, "OOM") {
		err = w.do(ctx, command("UNLINK", name)).Error()
	}
	return w.serverError(err)
}

// Clear removes every entry that is there.
func (t *Tier) Clear(ctx context.Context) error {
	return t.clear(ctx, globEscape(t.prefix+string(entryKind))+"*")
}
