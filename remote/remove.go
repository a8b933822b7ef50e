package remote

import (
	"context"

	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/remote/internal/entry"
	"github.com/redis/rueidis"
)

// Remove removes an entry. With an error it may not have been removed.
func (t *sharedTier) Remove(ctx context.Context, key []byte, expect shared.Expect) error {
	name := t.names.Entry(key)
	return t.askOwner(ctx, name, func(w *wire, _ int) error {
		t.count.writes.Add(1)
		if expect.Any {
			return w.remove(ctx, name)
		}
		return w.delIf(ctx, name, expect)
	})
}

// removal removes an entry whatever there is. Without leases a removal is remembered for a while,
// by a tombstone: who had found nothing before, and loads since, does not find nothing again.
func (w *wire) removal(ctx context.Context, name string) rueidis.Completed {
	if !w.leases(ctx) {
		return setCommand(name, marker(entry.FlagTombstone, entry.NewVersion()), w.t.o.LeaseTime)
	}
	return command("UNLINK", name)
}

// remove removes an entry whatever there is. A server that has no memory for what is to remember
// it, forgets it without.
func (w *wire) remove(ctx context.Context, name string) error {
	err := w.do(ctx, w.removal(ctx, name)).Error()
	if isServerError(err, "OOM") {
		err = w.do(ctx, command("UNLINK", name)).Error()
	}
	return w.serverError(err)
}
